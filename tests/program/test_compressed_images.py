"""LZ4 blocks and Zstandard frames against what other programs packed; damaged ones end in ValueError."""

import base64
import hashlib
import random
import sys
from contextlib import suppress
from importlib import import_module

import pytest

from support.fatbin_images import DATA
from warpbound.program.fatbin import containers, unpacked_block, unpacked_frame

FRAMES_DAMAGED = 2000
ELF_OF_SCALE = {  # sha256 of the cubins of data/scale_zstd.fatbin as nvcc wrote them with --compress-mode=none
    "sm_80": "59013711425163c771b797fb8e4b6d83ffadc462aacd3ee993c3ded26173c642",
    "sm_90a": "8ecd6349661c536239fb5b2a1e6076624e56309053cec542cb7e19a536baa134",
    "sm_100f": "567e12c35fa8d418cbe7e51222ee21c742e2883146508c482328f35fa0c022d5",
}
FRAMES = {  # made with zstd 1.5.4, in base 85
    "one byte": "D77#B1ZYeE00?&h0Q~<s5CQ@K5O)Kg1b3B~HeC",
    "words": "D77#B1ZW)=0P>3!60j$Y0RT;6YTS%*&3cmLk+F#8&0ovU3JG0r&S#e&`pwVwqk&oeQAT2S-yn;icLvr?bmd-M%`L$81v)V$S45($"
    "LqLONP}yw}m;yWrSTo2`AQOQ*sG+KxB<&p`2mykDthJm65g;InK!h~PS!fJ>5m?pbaCTdRlS>$BrPG895|h~r_C%Ouy#&XBM-aD0"
    "^J#H`SRRoSltLKzEtE5JDR-1iH_N|U^Fpne0y^%L6?N}^0iVKr(8(?faRG($VE!?b0@<z7rpo~eN<-97SxTyOsVFD~hG0+Bxt`Bk"
    "n1)uOOGQd~@I(G!lc!HMME|za!+;MGibc-&1#p(e&L^Akcb9Eup!EZkLuG9_vJg>XEfpM9K?xIXxx#a!HpmA*n>@>s-||mah@>yI"
    "PAt*uCgCG8!URQ6xT<hi;n8_wR7^_uBLJ!Aq}XOaQ)>55WQ~9I8%i&Uv*|r{vWaejm!hbr)OX5-Of>lp<s8&d*lXki8Q_U~-zs1K"
    "YY-%IwAf!iPe_ok-)6`0TT#uBeWyZTU$rs{1S^6zMq-KZ*A@3#WQ{_#4a&)(ThdhFrk%gG&s@NQgp2n7>))@BJ_X5=dy>BH>o8@9"
    "IGv>IGoHH&w3r<S9maa`!NZ>uD;3C^PWIvmKtbLWY<BCP4*>b$N9R!&YQtv+ns(sDRAv{xKk!#$OBPJHX>449t{InBCk_o%u^Lv|"
    "ykh-0lrg^?6i%cy=%u!)^(dfDU!Mo25SY~rlot>ntmyzTpI1CuN&r8%TAi7W>X2z`)I=pg=w>#^?VZOz#tFc?VV+?!8SzW`>h1Mp"
    "#$_@^GIKDYzgNRr?*pSbioipnS`nr1)=iwb9=eeLx0C^cy;_bTL~~bPS*9i=Vw4#wB->ro*V;<2P)Iuk;NN>l#8}&TQz?WhN0z=r",
    "blocks": "D77#B1ZY$t0CGzd60j$Y0RT<V*l5gft$o8Vm9dD^A0Mvwe*nJO=&Q@eW5V3*z5f@;GW3jFnPuHXckb1-xTkDCpqnYVGR;{9fC7u4"
    "v)chEPHCjFRv^cKih)9?u_~J+%bo!t1PO#u4l#0w$^#O>U|<M{F(5=S41q$R5F`W%0Yab<C<wwZ41}WS2h^$<gLP=trTFnu>CbC0"
    "5n*EsdJg4EW`Wu_jg*-|-eZm-G3&n>&VlKc7X(usiT(c(HM8P{CUv2XTfczF3wJ9|fn!|OQIED&k4Aw9aGwI-XZn&-mr+6XDy^D$"
    "QTViV3H^st5Q&WN2vK?!Hs%uOfX3&bA7&|r+<_K+WCj^SH#bx(fPx3*Tnq@~E|m$y4PP1tMO?ap@Fu*{av&D%MzDxFsmHO#a<6{2"
    "*XiJcQHq3b)43fNVqF|GRRGpK*tB-02VcaWXEZnJx@gvg$*TnAY((<bg}2<36z?N5K!T!shsQ2;`mOPhNPS^Dn#8KHp;skdk}SrX"
    "+rif5V7QN=<H?r37A+5s0H3bSuC5-L?sQ;PV+2O`h+sLADvFXim8wT6D4Q8mKV@(JyqtvXG_2kLrviyZGNmGdHpr?Qf0mXI9yT+%"
    "9uXQfS4R>FuCMLjHgY!z=Px48Uqq2#iNhCgl7G^mjlU>JLbq5U=2yfTU+JIjBO#XIe%iG;#OhSb@My=)PDkblO>6K5N}NvCtW6K~"
    "Mz8~t3@nyyENXe(x@@kGv9pYVjr9&1Uq5Ekpk>qyd)$@=#T@G$$*JsRq$?(Nk$ABQ6MTZz<1AOHx19^ZDyM<|!h{1U1Bs0rlGZUP"
    ";o0Ib!za1p9H>Y`&Qy)4s37^yvxv|L5;&G0q_sGHaC78w+Ml#H4TS;7)_iixF!0Zi-Y5<hP1@h11OR#f3I2x93S`8GL(CNsEK`pn"
    "lq?W^+9NYFKdhQCXykTQ^sYi@0)Lnrgdo0~*}>TTH-x6+iWN{u`xLo=1@4YH1_Kn0*BcXzsULu$JALr&M}k)-^3kU$n?bRMA)nr_"
    "JVTxLJ+{SWU3-2y_95_kD`)54fMOM2?%q%aZrlVR^0ntCFWnuRZT&^$o(fD^2%$g}>%QQtTGR}>NwoxwBlqNyfWU`afDNPZwhhC5"
    "7m32LJ6XH!&qpm5t-%fEDz<TZx<B^NX7j@aaabfzg8<dGW_(dx*2$Q!IhYOwSxK7`0~{QYtR4_%q>DRJy##!*MYYn;NK)`1`BpTV"
    "mzT62ht{_A#s~2zg3?(FXB(4`L?m1-Db>Bov+T6Gso&z55CZE)29S80$6)3p00xU_#e$H0YPrRnUpCZ$pmN9Zb;J42>J28mh0A;F"
    "W>3VTpu+rDRKPYvo@%~KKcx^hDNz1*AI3#1YG*$cMNkD4763DY1OLG(8PHSt9}no8!TJV(x~Q=0Ap{9RfFKC*BvK6G0}?<$2oMAa"
    "f*=G5K|=5eLVyq`1PDTaAP@pU5Q+Hk2Z&|d-~`mEw<ZH4hj9(x{doK$Gz=n`5M{i)t#E8z5Z@5Igzo<ed&6$K3S|t3%Gyx`(7JDD"
    "tAtXZ+l2hf+`e6#x<NIGz)+Y3jG>F#d>$EZ6>voGC&PhoO`Y@%i17X17M1`SA)j7?-o<4gr0TX!{WG|ZngQxYaR8%X9KP1P7q=lH"
    "z&_q0A*I)d7-;RBqqhxQ02V{llepyyRXGi~G2tE$H$6-e&@F=U$lPy7AFU#gU;soQt?s}J7=Mz;PEfvlA;Yua@H2f*Y!>o#ZUiM@"
    "qYq3F%fIuIoO_d31Mz3mwmq8;I011260!Su)a6Inz=ePmHd^G`{GG$dXD>uTz;V7$Pg3sYZUKR>73LFZ9n;SVj$7CV{3)U`G?>@u"
    "^Ab+T4_`L8Gk=K-z_(Y&A8F27--wKv0^#zCtr4KBgWxqkGOA3fUQX+-+Fx?~Zww*1^w-<20U5NH0ph|vUChl~_~%zX6PTmQ3Y)%F"
    "kWBqNq4yW~iIkEZnz2l73g#61A-K3A6f}DzWBLWMcA_I5S8uq;t{xF=>Moep;3PPhd^j(iKX@ieKILCs%q<Y<8mir|)H)tHHv)Oo"
    "dAoTe@5r{|$gi+fAt}A3R0ubqrO)DZXd5{>VfY?;6r~cJ3jS^@m<Th9cT5(v@ZQB6omDNb`-9e+o?pZ@12!GCT(qVAMc6kXUFGaR"
    "wG>Ci_)SxbHVRomq|d=w=*M|itbO`J?0!;Z*5;h+bm-k)T8ik-zpTpOr>>%ahZ_-=#f_;Q;HY+p{dhGC;gtVfI_Jf|c1$lMB?kSE"
    "_xoUC{<Tfyq8%Yld6pC%C<o#sLyYqTB@F;Wf&v#8zx?u5O8znsZs0Kl3c_HB0Et8?#`bPu7mlc9gnMjnz(Q;T)Je8w<UwOiQ^=J}"
    "H|LkqNUD#4z-o|4D(8R3FlLmx)$hr_t2PkkN+m<6fwFn-hm0s97#RP4_nnW*3TePO6em=b!ie%Zd~o?8fEkLA*F}{OmcpnH1wwkE"
    "NdZ7H5$HV7)5=OOCAlZM3ck5usVT>9dC9w3WRdCzWH&XTF{|*Uvvggl8bDG)sdh}qUHqHMpX<nKlJA&;sF6963b|&4@h=KF#=vj>"
    "b(!CNezXJ|Jy{ihelM$_=85q~)r6>lzCx;r-3O-Dr4us#=C_+yiIsjzz}as$5~9L};Uqrjh^Hun=c+rXtj}sPpwvD;Mc&J6gTQ~V"
    "PYkL~XcO|3QXq!bUnvNvK)F&@Tddx?m-B-_aw3lo#{X?f0I2fInMdK7iephK7>R01RRjx7BDF)1Y*&H;s%wX$2iF}|E$drI6Z%R|"
    "y$My6NecYRpF<w?O+#>0L>Shmh+P1ALlOS7YJ}6M3V6GwY7KGdE!>j)lK?HeXV7>",
    "stored": "D77#B1V|wO0C!<>a081AlK",
}


def words(count: int) -> bytes:
    """A text without a pattern, the same everywhere."""
    state, out = 1, []
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        out.append(b"load store barrier warp block lane cache line bank sector"[state >> 24 & 31 :][: state >> 20 & 15])
    return b" ".join(out)


def test_cubins_packed_by_nvcc() -> None:
    (images,) = containers((DATA / "scale_zstd.fatbin").read_bytes(), "scale")
    digests = {str(one): hashlib.sha256(one.contents("scale")).hexdigest() for one in images if one.kind == "cubin"}
    assert digests == ELF_OF_SCALE


def test_ptx_packed_by_nvcc_in_two_ways() -> None:
    texts = set()
    for name in ("scale_zstd.fatbin", "scale_lz4.fatbin"):
        (images,) = containers((DATA / name).read_bytes(), name)
        (ptx,) = (one for one in images if one.kind == "PTX")
        assert ptx.size > len(ptx.packed)
        texts.add(ptx.contents(name))
    (text,) = texts
    assert b".visible .entry _Z5scalePKffPf(" in text
    assert text.rstrip(b"\0").endswith(b"ret;\n\n}\n\n")


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    whole = {
        "one byte": b"w" * 300_000,
        "words": words(400),
        "blocks": b"".join(words(n) for n in range(100, 300)),
        "stored": b"warp",
    }[kind]
    assert unpacked_frame(base64.b85decode(FRAMES[kind]), len(whole)) == whole


def test_frames_of_the_standard_library() -> None:
    library = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    source = random.Random(6)
    for _ in range(50):
        whole = words(source.randrange(1, 5000)) + source.randbytes(source.randrange(200))
        assert unpacked_frame(library.compress(whole, level=source.choice((1, 3, 9, 19))), len(whole)) == whole


@pytest.mark.parametrize(
    "block, whole",
    [
        (b"\x40warp", b"warp"),
        (b"\x1fw\x01\x00\x00\x80warpsync", b"w" * 20 + b"warpsync"),
        (b"\x2fwa\x02\x00\x05\x50block", b"wa" * 13 + b"block"),
        (b"\xf0\x03" + b"x" * 18, b"x" * 18),
        (b"\xf0\xff\x00" + b"x" * 270, b"x" * 270),
    ],
)
def test_blocks_by_hand(block: bytes, whole: bytes) -> None:
    assert unpacked_block(block, len(whole)) == whole


@pytest.mark.parametrize(
    "block, size",
    [
        (b"", 4), (b"\x40war", 4), (b"\x40warp", 5), (b"\x10w\x02\x00\x50warps", 10), (b"\x10w\x00\x00\x50warps", 10),
        (b"\xf0\xff", 300), (b"\x10w\x01", 6), (b"\x1fw\x01\x00" + b"\xff" * 99 + b"\x00", 99),
    ],
)  # fmt: skip
def test_blocks_that_are_damaged(block: bytes, size: int) -> None:
    with pytest.raises(ValueError):
        unpacked_block(block, size)


def test_a_size_that_is_not_the_frames() -> None:
    frame = base64.b85decode(FRAMES["words"])
    for size in (0, len(words(400)) - 1, len(words(400)) + 1):
        with pytest.raises(ValueError, match="Zstandard|repetition"):
            unpacked_frame(frame, size)


def test_damage_ends_in_value_error_only() -> None:
    source = random.Random(5)
    (packed,) = containers((DATA / "scale_zstd.fatbin").read_bytes(), "scale")
    frames = [(one.packed, one.size) for one in packed] + [(base64.b85decode(FRAMES["words"]), len(words(400)))]
    for _ in range(FRAMES_DAMAGED):
        raw, size = source.choice(frames)
        changed = bytearray(raw)
        for _ in range(source.choice((1, 2, 9))):
            changed[source.randrange(len(changed))] = source.randrange(256)
        cut = bytes(changed[: source.randrange(len(changed))] if source.random() < 0.2 else changed)
        for unpack in (unpacked_frame, unpacked_block):
            with suppress(ValueError):
                assert len(unpack(cut, size)) == size
