"""Judge by its meaning whether a sentence of a session says something lasting, or is about the next step.

The judge is linear: a weight for each dimension of the sentence's vector. The weights were fitted to sentences of
sessions that people had labelled; docs/benchmarks.md has how, and how well it does on others.
"""

from __future__ import annotations

from base64 import b85decode
from struct import unpack

# The model whose vectors the weights are for.
MODEL = "local/all-MiniLM-L6-v2-int8-words"

_WEIGHTS = (
    b"-U{ja00+Pp9`Y$A@&DcD_xs@{4d*%$IsO+!Qym9D(hb=S{`%P0F-7St+~qS0$@%w0DnGC%Iu|Pq+wwf?03QzQ-O5+f2^;|U=_DRF"
    b"A|lGg@E`yV^)MwF;tuDcDA)J58W$H?2j%<O$6*-+Q~A?4$@2)^(lg@c1Rp2>&)o_L^#s}^7Xab;Bm)Ky`s51|G8Gom*!s>e*WI`Z"
    b"ANv&gLJRW@89XN<56kc+2@d`aDh1)^CDJFu$oSb+11Rh5%@86A@%#wZ?;SbyL-`B`^Z3C@@cMtx3l=^AA+_!6DmBa*1cdtb{3Q`2"
    b"4gvu3SFE|^0^tJ;BK{Qe)8YmL#pD9?u=wl}+vV)r02Jgv851}3y#vtxU-ROIw@U5;3FbHx9P^(fHCZP26YUS^=i2$m;u;Fm$}U0x"
    b"*c#{f1l(Kh?(*aw8u7Ub@VFP>$k+<X*AD6PG3NNv|MubwPV^C+_v-A+>i)<UBQGZC#|AXf*E1&s%*OQ`"
)
_SCALE = 0.009575
_BIAS = -0.5685


def worth(vector: bytes) -> float:
    """Return the score of a sentence by its vector."""
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    weights = unpack(f"{len(numbers)}b", b85decode(_WEIGHTS))
    return _SCALE * sum(map(float.__mul__, numbers, map(float, weights))) + _BIAS
