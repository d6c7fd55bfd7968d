"""Judge by its meaning whether a sentence of a session says something lasting, or is about the next step.

The judge is linear: a weight for each dimension of the sentence's vector. The weights were fitted to sentences of
sessions that people had labelled; docs/benchmarks.md has how, and how well it does on others.
"""

from __future__ import annotations

from recollect.domain.triage.phrases import words_of

# The model whose vectors the weights are for.
MODEL = "local/all-MiniLM-L6-v2-int8-words"

# From this score on a sentence is kept.
LASTING = 0.0

_WEIGHTS = (
    b"-U{ja00+Pp9`Y$A@&DcD_xs@{4d*%$IsO+!Qym9D(hb=S{`%P0F-7St+~qS0$@%w0DnGC%Iu|Pq+wwf?03QzQ-O5+f2^;|U=_DRF"
    b"A|lGg@E`yV^)MwF;tuDcDA)J58W$H?2j%<O$6*-+Q~A?4$@2)^(lg@c1Rp2>&)o_L^#s}^7Xab;Bm)Ky`s51|G8Gom*!s>e*WI`Z"
    b"ANv&gLJRW@89XN<56kc+2@d`aDh1)^CDJFu$oSb+11Rh5%@86A@%#wZ?;SbyL-`B`^Z3C@@cMtx3l=^AA+_!6DmBa*1cdtb{3Q`2"
    b"4gvu3SFE|^0^tJ;BK{Qe)8YmL#pD9?u=wl}+vV)r02Jgv851}3y#vtxU-ROIw@U5;3FbHx9P^(fHCZP26YUS^=i2$m;u;Fm$}U0x"
    b"*c#{f1l(Kh?(*aw8u7Ub@VFP>$k+<X*AD6PG3NNv|MubwPV^C+_v-A+>i)<UBQGZC#|AXf*E1&s%*OQ`"
)
_SCALE = 0.009575
_BIAS = -0.5685

# The words that the scoring was first described with: a sign of each category, and what makes it stronger.
_FIRST_WORDS = {
    "decision": (
        "decided|chose|selected|went with|picked",
        "because|due to|reason|rationale|over|instead of|rather than",
    ),
    "runbook": (
        "error|exception|traceback|stack trace|failed|failure|crash",
        "fixed by|resolved|root cause|solution|workaround|the fix",
    ),
    "constraint": (
        "limitation|api limit|cannot|restricted|not supported|quota|rate limit",
        "discovered|found that|turns out|permanently|enduring|platform",
    ),
    "tech_debt": (
        "todo|deferred|tech debt|workaround|hack|will address later|technical debt",
        "because|for now|temporary|acknowledged|deferring|cost|risk",
    ),
    "preference": (
        "always use|prefer|convention|from now on|standard|never use|established",
        "agreed|going forward|consistently|rule|practice|workflow",
    ),
}


def worth(vector: bytes) -> float:
    """Return the score of a sentence by its vector."""
    from base64 import b85decode  # imported late: hooks need only the rest of this module
    from struct import unpack

    numbers = unpack(f"<{len(vector) // 4}f", vector)
    weights = unpack(f"{len(numbers)}b", b85decode(_WEIGHTS))
    return _SCALE * sum(map(float.__mul__, numbers, map(float, weights))) + _BIAS


def is_plain(sentence: str, category: str) -> bool:
    """Return True if a sentence has both a sign of its category and a stronger word, so that it is never judged."""
    text = f" {' '.join(words_of(sentence))} "
    return all(
        any(f" {word} " in text for word in words.split("|")) for words in _FIRST_WORDS.get(category, ("\0", "\0"))
    )
