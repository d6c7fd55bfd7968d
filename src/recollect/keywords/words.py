"""Word lists for the rules: words never used as labels, words used as a last resort, and words always allowed."""

from __future__ import annotations

# Function words, and content words too common in lessons to tell anything.
STOP = frozenset(
    """
    a about above across actually after again against ago all almost alone along already also although always am among
    an and another anti antipattern any anybody anyone anything anyway anywhere apart are around as aside at autumn away
    back be became because become becomes been before beforehand behind being below beneath beside besides between
    beyond both but by came can cannot cant come comes could day days did do does doesnt doing done dont down due during
    each eg eight either eleven else elsewhere enough especially etc even ever every everybody everyone everything
    everywhere example examples except fairly false few fewer fifteen fifth fifty finally first five following for forty
    four fourth from further get gets getting give given gives giving go goes going gone got had half has have having he
    hence her here hers herself heuristic heuristics him himself his hour hours how however hundred i ie if in indeed
    instead into is isnt it its itself just keep keeps kept last lately later latter least less lesson lessons lest let
    lets like likely likewise little lot lots made mainly make makes making many may maybe me mean means meant meanwhile
    might mine minute minutes month months more moreover most mostly much must my myself namely near nearly necessarily
    neither never nevertheless next nine nobody none nonetheless nor normally not nothing notwithstanding now nowhere
    null of off often oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves out
    outside over own pattern patterns per perhaps please plus possibly probably put puts quietly quite rather really
    regardless same say saying says second seconds see seem seemed seems seen sees seven several shall she should since
    six sixth so some somebody somehow someone something sometimes somewhere soon still such take taken takes taking ten
    than that thats the their theirs them themselves then thence there thereby therefore these they thing things third
    thirty this those though thousand three through throughout thus till to today together told tomorrow too took toward
    towards true twelve twenty twice two under unless unlike until up upon us use used useful uses using usual usually
    various very via was way ways we week weeks well went were what whatever when whence whenever where whereas wherever
    whether which whichever while whilst who whoever whole whom whose why will with within without wont would year years
    yes yesterday yet you your yours yourself yourselves zero
    """.split()
)

NUMBERS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty hundred
    thousand million
    """.split()
)

# Words with little meaning of their own: everyday verbs, adjectives of degree, nouns without a subject.
WEAK = frozenset(
    """
    ability able accept acceptable accepted accepts accurate achieve act acts actual add added adding additional
    addresses adds adequate affect afterwards alive allow allowed allows amount announce announces answer answered
    answering answers appear appears applied applies apply approach appropriate area arrive arrived arrives ask
    asked asking asks aspect assume assumed attach attempt attempted attempts attention available avoid avoided
    avoids aware bad base based basic basis begin begins behave behaves behavior behaviour belief believe belong
    belongs benefit best bet better big blame break breaking breaks bring brings broke broken build building builds
    built call called caller callers calling calls capability care careful carries carry case cases catch catches
    caught cause caused causes certain changed changes changing cheap check checked checking checks choose chosen
    circumstance claim clarify clean clear clearly close closed combine common compare compared compares complete
    complex complicated comprehensive concern conclude conclusion conduct confirm confirmed confirms conform confuse
    consequence consider consideration consistent constrain constrains contain contains content continue continues
    contribute convenience convenient copied copy correct correctly correlate cost costs count counted counts course
    cover covers create created creates creating crucial current currently customer damage date deal decide decided
    decides decision dedicated default defaults define degree deliberate deliver delivered delivering demonstrate
    depend depends describe described describes design desirable desired detail details determine differ different
    differs difficulty direct direction directly disable discover discovered distinguish documentation double doubt
    draw draws drop drops dump dumping earlier early easily easy edge effect effective efficient effort element
    elements eliminate emphasis emphasize empty enable encodes encounter encourage end ending ends ensure enter
    enters entire entry equivalent escalate essential establish evaluate evidence exact exactly examine exceed
    excellent excessive exhibit exist existence existing exists expect expected expects experience expire expires
    explain explained explains explanation explicit expose express extend extensive extent extra extreme facilitate
    fact factor fail failed failing fails familiar far fashion fast feel feels fetch field fields final find finding
    finds fine finish finished fit fits fixed fixes fixing follow followed follows force forever forget forgets form
    found foundational free frequent fresh full fully functionality fundamental future gain gather general generally
    genuine goal good great grow grows guess guesses hand handle handled handles handling happen happened happens
    hard harder harmless healthy help helpful helps hidden hide hides high highlight hold holds honor honour huge
    human idea identical identify ignore ignored ignores illustrate impact implement implies imply importance
    important improve improvement include included includes including incorporate incorrect increase indicate
    indication inevitable inform information inherent initial inner input insert inspect instance intend intended
    intention interest internal introduce invalid involve irrelevant issue item items job justify keeping kills kind
    kinds knock knocks know knowing knowledge known knows lack land lands large largest lasted late lead leading
    leads learn learned leave leaves leaving left legal legitimate level line lines list local logical long longer
    look looked looking looks lose loses loss lost low machine machines main maintain maintenance major manage
    manner match matches matter matters maximum meaning meaningful measure measured meet mention merged met minimal
    minimum minor miss missed missing mistake mistakes mix mode moderate modern modification modify moment move
    moved moves moving multiple mutual name named names natural nature necessary need needed needing needs new newer
    nice normal notable note noted notes notice noticed notion number numbers numerous object obtain obvious
    occasion occasional occur occurs offer old older oldest omit open opens operation opinion opportunity optional
    order ordinary original originate outcome outlive output overall pair paper part partial participate particular
    parts pass passed passes past people perfect perform permanent permit permits permitted persistent person
    personal perspective pick picked piece place placed places plain plan plausible point points poor popular
    possess possibility possible potential powerful practice precise predict prefer preparation presence present
    pretend prevent prevents previous primary prior problem problems proceed process produce product production
    prone proper properly propose prove proves provide provided provides publish published purely purpose pursue
    quality question quick quickly raise raised raises range rare rationale reach read reader readers reading reads
    ready real realistic reality realize reason reasonable reasons receive received receives recognise recognize
    recommend reconsider record recorded records recover recovering reduce reflect refuse refused refuses regard
    reject rejects relate related relevant reliable rely remain remains remember remove removed removes removing
    rename renaming repair repeat repeated repeats replace report reported represent require required requirement
    requires resemble resolve resolved resort respond rest restart restarts result results return returned returning
    returns reveal review right risk risks robust role rolled round rule rules run running runs safe safely satisfy
    save saved saves scenario secondary seek send sender sending sends sense sensible sent separate separately
    serious serve serves set sets setting setup severe shape short shorter shortest show showed showing shown shows
    side sign significance significant signs silent similar similarity simple simply single sit situation size
    slight slow small smaller solution solve solved sophisticated sort sound source space speak special specific
    spend spends spot stale start started starting starts state stated status stay stays step steps stop stopped
    stops stored stores storing straightforward strange strict strings strive strong struggle stuck stuff style
    subject subsequent subtle succeed succeeds success suddenly suffer sufficient suggest suggestion suit suitable
    superfluous supply support sure surprise surprises switch symptom talk tell tells tend tendency term text thank
    thanks thin think thorough thought time times total touch travel travels treat treated treatment treats tried
    tries trip trips trivial trouble trust trusting truth try trying turn turned turning turns type types typical
    unclear undergo understand understanding unexpected unique unit unknown unnecessary unseen unused unusual usable
    usage useless user users utilize vague valid validate valuable value values variety vary version versions viable
    view visible wait waited waiting waits walk walks want wanted warrant watch widespread win wins wish word words
    work worked working works worse worst worth wrap wrapping write writes writing written wrong yield yields
    """.split()
)

# Words for things, in spite of an ending for actions or qualities.
THINGS = frozenset(
    """
    batching bearing billing binding branching buffering casing ceiling coupling directive drawing embed embedding
    escaping exercise expertise feed handful hardcoding hashing heading hosting indexing iterable lexing licensing
    listing mapping monitoring motive naming native nesting objective onboarding ordering packaging padding paging
    pairing pricing primitive processing profiling provisioning quoting ranking rendering ring roaming rounding
    routing salting sampling scheduling scoring scraping seed sequencing signing sorting speed spelling spring
    staging streaming string templating testing threading timing tokenizing tooling tracing training tuning variable
    versioning warning wiring
    """.split()
)

# Names worth a label in any case and any place. They are one word however they are written.
TECHNICAL = frozenset(
    """
    airflow ajax android angular ansible anthropic apache api argparse asgi asyncio auth avro aws azure babel backoff
    backpressure bash bazel benchmark bigquery brotli bun cache caching cardinality cargo cassandra cdn celery checksum
    chrome ci circleci clang claude cli clickhouse cloudflare cmake cobol codecov commit compiler concurrency conda
    constraint coroutine cors cpu credential credentials cron crontab csrf css csv cuda curl cursor cython daemon
    dataclass datadog dbt deadlock deadlocks debian debounce decorator deno dependency deployment deserialization diff
    django dns docker dockerfile dynamodb ebpf ecs eks elasticsearch electron elixir emacs encoding encryption endpoint
    enum envoy eslint etcd fastapi ffmpeg firebase firefox firewall fixture fixtures flaky flask flutter foreign-key
    fortran fts5 fuzzing gcc gcp gdb gdpr gemini generator git github gitignore gitlab golang gpu gradle grafana graphql
    grep grpc gunicorn gzip hadoop handshake hash haskell heap heartbeat heroku hmac hook hooks html http https httpx
    hypothesis ide idempotency index ini inode intellij ios ipv4 ipv6 jaeger java javascript jenkins jest jinja jira
    jitter jpeg jq json jsonl junit jupyter jvm jwt kafka keepalive keras kernel kotlin kubectl kubernetes lambda
    langchain laravel latency latex ldap linter linting linux llm llvm lock lockfile locking lodash logging logs
    loopback lua lxml macos makefile mariadb markdown matplotlib maven mcp memcached memoization mercurial merge
    metadata middleware migration minio mock mocking mocks mongo mongodb monorepo mqtt msgpack mutex mypy mysql
    namespace nats neo4j netty nextjs nginx node nodejs nonce nosql npm numpy oauth offset oidc ollama onnx openai
    openapi openssl orm otel outbox overflow pagination pandas parquet parser parsing partition patch pdf perl
    permission php pickle pip pipeline playwright plugin png pnpm podman poetry pointer polling pool pooling postgres
    postgresql powershell pragma prisma profiler prometheus promise protobuf proxy pycharm pydantic pyproject pyright
    pytest python pytorch queue quic quota rabbitmq race rails randomness react rebase recursion redirect redis
    refactoring regex replication retries retry retrying rollback rollup router rsync ruby ruff runtime rust s3 saml
    sandbox sass sbt scala scheduler schema scikit scipy secrets segfault selenium semaphore semver sentry serialization
    sharding shell shellcheck signature singleton smtp snapshot snowflake snyk socket solidity solr splunk sql
    sqlalchemy sqlite ssh ssl sso stack stacktrace starlette stderr stdin stdout stopword storybook stripe subprocess
    subquery svelte svg swagger symfony symlink systemd tailwind tcp telemetry tensorflow terraform thread threads
    throttling timeout timeouts timestamp timestamps timezone tls tmux token tokenizer tokens toml tornado tox traceback
    transaction transactions trigger tuple typescript typing ubuntu udp ulid unicode unix uri url utc utf utf8 uuid uv
    uvicorn vacuum vagrant valgrind vector vim virtualenv vite vitest vscode vue wal wasm webassembly webhook webhooks
    webpack websocket websockets whitespace windows worktree wsgi wsl xcode xml xpath xss yaml yarn zookeeper zsh zstd
    """.split()
)

EXTENSIONS = frozenset(
    """
    bash bat c cc cfg clj conf cpp cs css csv dart db env erl ex exs go gradle graphql h hcl hpp hs html ini ipynb java
    jl js json jsonl jsx kt less lock log lua md mjs ml mod parquet patch pem php pl png proto ps1 py pyi r rb rs rst
    scala scss service sh sql sqlite svelte svg swift tf toml ts tsx txt vue whl xml yaml yml zip zsh
    """.split()
)
