# hot
"""Word lists for finding secrets: telling names, neutral names, placeholders and ordinary words."""

from __future__ import annotations

# Words in the name of a secret value. True marks the names of passwords: these need not look random.
_PASSWORDS = (
    "password, passwd, passphrase, passcode, passwort, kennwort, mot de passe, contraseña, contrasena, pwd, pass, pw"
)
_CREDENTIALS = (
    "secret_key, secret-key, secret, token, api_key, api-key, api key, apikey, access_key, access-key, access key, "
    "accesskey, account_key, accountkey, private_key, private-key, private key, privatekey, subscription-key, "
    "credential, _auth, key, hmac, signing"
)
# Words that also name a method: only a long random value beside them is a secret (`hmac = "sha256"` is none).
METHODS = frozenset({"hmac", "signing"})
TELLING = (*((word, True) for word in _PASSWORDS.split(", ")), *((word, False) for word in _CREDENTIALS.split(", ")))

# In these languages we know too few ordinary words, so a password needs a digit or a sign.
FOREIGN = frozenset({"passwort", "kennwort", "mot de passe", "contraseña", "contrasena"})

# Neutral words after or before the telling one: with them a name is not a secret's (token_count, next_token), unless
# its value looks drawn by chance (SECRET_KEY_BASE).
NEUTRAL_AFTER = frozenset(
    """
    address age alg algo algorithm alias arn array at attempts attr attribute available backend base bits block bucket
    budget bytes cache callback change changed char character characters chars check checksum class cls code codec col
    column command complexity config confirmed count created data date digest dir directory display embedding enabled
    encoding encryption endpoint entropy entry env error errors exists expiration expired expires expiry factory field
    fields file filename files fingerprint fn folder format func function generator getter group handler hash hasher
    hashes header help hint host icon id identifier ids index info input invalid invalidated is iterator key keys kind
    label last leaf lease len length level lifetime limit line link list loader location logprobs lookup manager map
    mask match max message method min minimum mode model name names namespace node note number object offset option
    options order page pair param parameter params parser part path paths pattern placeholder policy pos position
    prefix prompt property provider range rate ref reference refs regex registry required requirement requirements
    reset response result role rotation rule rules scanner scheme scope sentence separator sequence server service
    session set setting settings shape size source span start state status storage store strategy stream strength
    string suffix table tag template test tests text time timeout title total transform ttl type types uri url urls
    usage use used user users valid validation validator validity var variable vector version view visible warning
    width window words
    """.split()
)
NEUTRAL_BEFORE = frozenset(
    """
    accelerator any arrow backspace begin bos by cache cancel cancellation char class cls column composite config
    continuation control cursor delimiter dict empty end eos every first foreign function group has hkey host hot
    idempotency if index invalid is item join json known last lookup mask match max message metadata min missing
    modifier n natural new_line next no node num object of old option or order pad page partition primary property
    pub public range registry response row s3 sep seq setting shift short shortcut sort special ssh start stop str
    string symbol sync tab template to total type uint unique unk use valid
    """.split()
)

# Neutral words whose value may look drawn by chance, and is public all the same: key_id, token_hash, next_token.
PUBLIC = frozenset(
    """
    address alias alphabet any arn array batch cache cancel cancellation char character characters chars check
    checksum continuation cursor digest dir directory endpoint event file filename files fingerprint first folder
    foreign group handler hash hasher hashes hint id idempotency identifier ids index kid last link list location
    lookup map mask name names namespace natural next object page param parameter parameters params partition path
    paths pattern placeholder policy pos position primary pub public range ref reference refs regex request row s3
    scope sequence sort sync table tag template uri uris url urls uuid var variable version view
    """.split()
)
# Neutral words before "password" and the like. An old password, or a registry's, is a password.
NEUTRAL_BEFORE_PASSWORD = frozenset(
    """
    any by cancel char class cls column dict empty end every first foreign function has if index invalid is item join
    key last lookup mask match max message min missing modifier n next no node num object of option or page property
    range response row sep seq setting sort start stop str string symbol tab template to total type uint unique unk
    use valid
    """.split()
)

# Placeholders in place of a secret, and their words: "my-secret-token" is a placeholder too.
PLACEHOLDERS = frozenset(
    """
    a abc abcd abcdef access account admin an any api apikey app auth authentication bar base bearer blank bool
    boolean bytes changeit changeme changethis client code config const credential credentials current custom data
    database db default demo development dummy empty enter env environment example examples fake false field file
    filename fixme foo foobar for generated get getenv getpass github gitlab given goes got hash hashed here hidden
    id insert int integer invalid key keys letmein local localhost login maybe me missing mock my mypass mypassword
    mysecret name new nil no none nothing null number object of old omitted or os pass passcode passphrase passwd
    password passwords path placeholder plain private production prompt provided public put pw pwd random real
    redacted repeat replace replaceme required root sample secret secrets self session set some something staging
    stdin str string stripped supersecret tbd temp test tested testing testpass text that the this to todo token
    tokens true type undefined unset unused url use user username value values var variable vault with write x xx
    xxx xxxx your yourpassword yours yoursecret yourtoken zzz
    """.split()
)

# Ordinary words in a sentence about a password ("the password is stored in a file"). Most others have these endings.
ORDINARY = frozenset(
    """
    about above absent again all alone also always another as asked at back bad because been before being below better
    between blank both bound but by bytes can changed char chars clear come correct dead different done down each
    either else empty enough equal even ever exactly expected fine first free from fully further gone good half hard
    has held here hex how if immutable in incorrect inside instead into it its just kept known last late later left
    less like likely long longer lost made mandatory meant more most much necessary needed neither never new newer next
    no nobody non none nor not nothing now null off ok okay older on once one only open option optional options other
    our out over own part plain plaintext present quite rather read ready right safe same secret secure sent set short
    shorter shown simple simply since small so some something soon still strong stronger such sure taken text that the
    their them then there these they this those through thus to together too true two unchanged undefined under unique
    unknown unless unsafe until up upper urgent us used useless valid very via wanted was weak weaker well were what
    when where which while who whole why with within without wrong yes yet you your
    """.split()
)
ENDINGS = tuple(
    """
    ed en ing able ible ly ive al ous ant ent ful less ory ary ic ished ought own ept ost uilt ncy tion sion ment ness
    ity ward wards
    """.split()
)
ENDINGS_OF_COMPOUNDS = tuple(
    """
    ed able ible ly known sensitive only safe free time text based wide like level proof ready specific dependent side
    """.split()
)
