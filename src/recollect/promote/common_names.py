"""Names that are no evidence for a single project, because nearly every project has or uses them."""

from __future__ import annotations

COMMON_FILES = frozenset(
    """
    .dockerignore .editorconfig .env .gitattributes .gitignore .pre-commit-config.yaml __init__.py __main__.py
    admin.py agents.md app.py bar.py build.sh cargo.toml changelog.md claude.md cmakelists.txt compose.yaml
    conftest.py contributing.md deploy.sh docker-compose.yml dockerfile entrypoint.sh example.py foo.py forms.py
    go.mod helpers.py index.html index.js index.ts install.sh jest.config.js license license.md main.go main.py
    main.rs makefile manage.py models.py package-lock.json package.json pom.xml pyproject.toml pytest.ini readme.md
    requirements.txt run.sh schema.sql script.py script.sh settings.json settings.py setup.cfg setup.py setup.sh
    skill.md test.py test.sh tests.py tox.ini tsconfig.json urls.py utils.py views.py vite.config.ts
    """.split()
)
COMMON_NAMES = frozenset(
    """
    agent agents api app application backend blog cache cli client code common compiler config core dashboard data
    database demo desktop docs editor engine example examples frontend game graph index infra lib library main
    memory mobile monitor network notes parser pipeline platform plugin plugins project proxy queue repo root sample
    scheduler scripts search security server service services shop site source src store system template test tests
    tmp tool tools util utils web website work worker workspace
    """.split()
)
COMMON_IDENTIFIERS = frozenset(
    """
    Base Client Config Controller Error Exception Item Logger Model Node Request Response Server Session Test User
    View addEventListener created_at deleted_at file_name file_path forEach get_logger hashCode log_level
    node_modules onClick on_error request_id setUp setUpClass tearDown tearDownClass toString updated_at useEffect
    useState user_id user_name
    """.split()
)
# Names of tools, languages and platforms. A lesson about one helps wherever it is used, also if a project has a
# variable of that name.
COMMON_TOOLS = frozenset(
    """
    actionscript airflow angular ansible apache applescript argocd astro aws azure babel bash bazel bigquery bitbucket
    bootstrap bun cassandra celery chrome circleci clang clickhouse clojure cloudflare cloudformation cloudfront
    cloudwatch cmake cockroachdb codeql coffeescript composer confluence consul couchdb css csv cypress dart databricks
    datadog debian deno django docker dynamodb eclipse ecmascript elasticsearch elixir emacs envoy erlang esbuild eslint
    etcd express fastapi fedora firebase firefox flask flink flutter fortran gatsby gcc gemini git github gitlab
    gitpod golang google gradle grafana graphql groovy grpc hadoop haproxy haskell helm heroku hibernate homebrew html
    http https hugo influxdb intellij ios java javascript jenkins jest jira jquery json jsonschema jupyter kafka keras
    kibana kotlin kubernetes langchain laravel latex linux llvm localstorage lua macos mariadb markdown matlab
    matplotlib maven memcached mercurial meson mocha mongodb mongoose mypy mysql neo4j nestjs netlify next nextjs nginx
    node nodejs nosql npm numpy nuget nuxt oauth objectivec ocaml ollama openai openapi opensearch openshift openssl
    opentelemetry oracle pandas perl php phpunit playwright podman polars poppler postgres postgresql postman powershell
    prettier prisma prometheus protobuf pulumi puppeteer pydantic pylint pyright pytest python pytorch rabbitmq rails
    react reactjs redis redshift redux rollup rspec ruby rubygems rust salesforce scala scikitlearn scipy selenium
    sentry servicenow shell snowflake solidity sonarqube spark sql sqlalchemy sqlite sqlserver ssh storybook stripe
    subversion supabase svelte swagger swift swiftui systemd tailwind tailwindcss tcp tensorflow terraform
    testcontainers tls tomcat toml typescript ubuntu udp unicode unix vagrant vercel vim visualstudio vite vitest vscode
    vue vuejs
    webassembly webgl webpack webrtc websocket windows wordpress xcode xml yaml yarn zig zookeeper
    """.split()
)
