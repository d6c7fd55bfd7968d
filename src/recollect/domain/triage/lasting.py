"""Judge by its meaning whether a short statement of the user will last: a fact, a limit, a choice, a habit.

The judge is linear over the statement's vector and a few plain words. It was fitted to statements with labels;
`python bench/triage/statements.py` has how, and how well it does on others.
"""

from __future__ import annotations

from base64 import b85decode
from struct import unpack

from recollect.domain.triage.phrases import words_of
from recollect.domain.triage.plain import OPENERS
from recollect.domain.triage.words import CLASSES

# The model whose vectors the weights are for.
MODEL = "local/all-MiniLM-L6-v2-int8-words"

# Words that say how a thing is meant rather than what it is about. Each that is there is a dimension.
WORDS = (
    "a above add after again all always and are at be before between broken but by can cant do does doesnt dont"
    " each even everything everywhere fails first for from gets good has have i if in is it just keep maybe me"
    " much must my need needs never new nice no nobody not nothing now of ok old on one only our out over per"
    " please put run same should since so stays than thanks the their them there they think this to today too try"
    " up use want we were what whats when with without wrong year you"
).split()
_PRESENT = 0.3

# Kinds of first words, each a dimension too: they ask for a step, point at the matter at hand, or speak of more.
_FIRST = (
    CLASSES["DO"].split()
    + "try fix move remove give set check look find let lets take see print plot compare replace swap drop read open"
    " build compile flash rerun redo undo revert continue finish go pull rewrite implement simplify have update mark"
    " understand come stop start switch kill cut search".split(),
    "i im ive my your you there it its that thats".split(),
    "the our we all no never every always only".split(),
)

_WEIGHTS = (
    b"+x`Rx_UrNUDFPZL2k#{q5d#_a1jYal?$!129{KVV<N)Fs0S(yz{1(^`{O$q#ode?&@*eZr3kL@L-}vtV<uooc@80?A2uBq!4io+H+$0J"
    b"21ML~`GXfFTSN7ZV0vPfI5eN?{_5S<*6ZrQQ@6qf9*!&3t!!QK<6CVEn9tq~+@fP(EF$)|B4g@S4_#Z0}@%j!04g>TI4h;0<FB|ha+Qj"
    b"ws2p!z&|LgJ$`|TAt0P-aGB+m~p(GVB%>G&B5%-|j;+5!96><~yI1Qz!g^!f<+?+ZWv126ah-o)=L)A!;H9qQBb(&Y5x_1y~g8yw>=DC"
    b"x-~`1i*I<f8oKz8UKm<@xde0pQ5#7yb7G4({Un3KRbcLD>lm*9aQ+1kWVl4->`{^V{dl;|(A++2#)97aJ4d>O%Vf;5P#h{@@H9A1@pI?"
    b"&T^h7x~Ww*BJE;{{ImUAPeclBOc}z8vFkr<^}!r^!&^X1OoNj-xn7a1nw~9?)MVa782|o)($4}Ki~;H@#^d#@iP_m?KKk>9u(@>FgF?K"
    b"CkovVGYj(GFzp5x4e;nF9}DU_Au#av3GfgK_8<@w8X_DEAK2dS8WSbx1swM25ZlTT;1BNZ8XqPT>Fg2n6YA>@ljsw5e*"
)
_SCALE = 0.020396
_BIAS = -1.1456

# The score above which a statement is asked about.
_ENOUGH = 0.601


def features(vector: bytes, statement: str) -> list[float]:
    """Return the dimensions that a statement is judged by."""
    present = [_PRESENT if is_there else 0.0 for is_there in _present(statement)]
    return [*unpack(f"<{len(vector) // 4}f", vector), *present]


def _present(statement: str) -> list[bool]:
    words = words_of(statement)[1:-1]
    first = next((word for word in words if word not in OPENERS), "")
    kinds = [*(first in listed for listed in _FIRST), "," in statement, any(map(str.isdigit, statement))]
    return [*(word in words for word in WORDS), *kinds]


def lasting(vector: bytes, statement: str) -> float:
    """Return the score of a statement by its vector and its words; above zero it is worth asking about."""
    numbers = features(vector, statement)
    weights = unpack(f"{len(numbers)}b", b85decode(_WEIGHTS))
    return _SCALE * sum(map(float.__mul__, numbers, map(float, weights))) + _BIAS - _ENOUGH
