"""Which modifiers of an opcode are understood: another one is refused, never passed over."""

from collections.abc import Mapping

_ORDER = "E SYS STRONG WEAK GPU CTA SM VC PRIVATE MMIO SC"  # addressing and memory order: all is in order here
_HINTS = "CONSTANT EF EL LU EU NA BYPASS ACCESS LTC64B LTC128B LTC256B ENL2 INVALB SPARSE"
_WIDTH = "U8 S8 U16 S16 32 64 128 256"
_COMPARE = "LT EQ LE GT NE GE T F AND OR XOR"
_UNORDERED = "LTU EQU LEU GTU NEU GEU NUM NAN"
_ROUND = "RN RM RP RZ"
_WHOLE = "TRUNC FLOOR CEIL"
_VECTORS = "F16x2 BF16x2 F32x2 F32x4 F16x4 F16x8 BF16x4 BF16x8"
_ATOMIC = f"ADD MIN MAX INC DEC AND OR XOR EXCH CAS S32 64 S64 U64 F32 F64 128 {_VECTORS} FTZ RN {_ORDER}"
_PARTS = "S16x2 U16x2 16x2 S8x4 U8x4 8x4"
_SMALL = "U8 S8 U16 S16 U32 S32 U64 S64 F16 BF16 F32 F64"

_WORDS: Mapping[str, str] = {
    "IADD3": "X 64", "IADD": "X 64", "VIADD": f"S32 ISAT {_PARTS}", "IMAD": "MOV U32 IADD SHL WIDE HI X", "IABS": "",
    "ISETP": f"{_COMPARE} U32 S32 EX 64 S64 U64", "IMNMX": "U32 S32 U64 S64", "VIMNMX": f"U32 S32 RELU {_PARTS}",
    "VIADDMNMX": f"U32 S32 RELU {_PARTS}", "VIMNMX3": f"U32 S32 RELU {_PARTS}",
    "LEA": "HI X SX32", "IDP": "4A 2A HI LO S8 U8 S16 U16", "VABSDIFF": "U32",
    "VABSDIFF4": "U8 S8 ACC",
    "LOP3": "LUT PAND", "PLOP3": "LUT", "SHF": "L R W HI U32 S32 U64 S64", "SEL": "64", "MOV": "64",
    "PRMT": "F4E B4E RC8 ECL ECR RC16",
    "POPC": "", "BREV": "", "FLO": "U32 SH", "SGXT": "U32 W", "BMSK": "W", "P2R": "", "R2P": "",
    "FADD": f"FTZ SAT {_ROUND}", "FMUL": f"FTZ SAT {_ROUND} D2 D4 D8 M2 M4 M8", "FFMA": f"FTZ SAT {_ROUND}",
    "FSETP": f"FTZ {_COMPARE} {_UNORDERED}", "FSET": f"FTZ BF {_COMPARE} {_UNORDERED}", "FSEL": "FTZ",
    "FMNMX": "FTZ NAN XORSIGN", "FMNMX3": "FTZ NAN", "FCHK": "",
    "FADD2": f"FTZ {_ROUND}", "FMUL2": f"FTZ {_ROUND}", "FFMA2": f"FTZ {_ROUND}",
    "MUFU": "RCP RSQ SQRT LG2 EX2 SIN COS TANH RCP64H RSQ64H F16 BF16_V2 F16_V2 BF16",
    "DADD": _ROUND, "DMUL": _ROUND, "DFMA": _ROUND, "DSETP": f"{_COMPARE} {_UNORDERED} MIN MAX", "DMNMX": "",
    "HADD2": "F32 BF16_V2 SAT FTZ RELU", "HMUL2": "BF16_V2 SAT FTZ RELU", "HFMA2": "MMA F32 BF16_V2 SAT FTZ RELU",
    "HSETP2": f"BF16_V2 FTZ {_COMPARE} {_UNORDERED}", "HSET2": f"BF BF16_V2 FTZ {_COMPARE} {_UNORDERED}",
    "HMNMX2": "BF16_V2 NAN", "VHMNMX": "BF16_V2 NAN",
    "F2I": f"{_SMALL} FTZ NTZ {_WHOLE}", "I2F": f"{_SMALL} {_ROUND}", "I2FP": f"F32 S32 U32 {_ROUND}",
    "I2I": f"{_SMALL} SAT", "F2IP": f"U8 S8 U16 S16 F32 FTZ NTZ {_WHOLE}",
    "I2IP": "S2 U2 S4 U4 S8 U8 S16 U16 S32 SAT",
    "F2F": f"{_SMALL} FTZ {_ROUND} {_WHOLE}", "FRND": f"F16 F32 F64 BF16 FTZ {_WHOLE}",
    "F2FP": "F16 BF16 F32 PACK_AB RELU RZ RN SATFINITE E4M3 E5M2 PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C",
    "HMMA": "16816 1688 1684 16x8x4 16x8x8 16x8x16 F16 F32 BF16 TF32", "DMMA": "884 8x8x4 16x8x4 16x8x8 16x8x16",
    "IMMA": "8816 8832 16816 16832 16864 S8 U8 S4 U4 SAT ROW COL", "QMMA": "16832 F32 F16 E4M3 E5M2",
    "BMMA": "88128 168128 168256 AND XOR POPC ROW COL",
    "LDSM": "16 M88 MT88 2 4", "STSM": "16 M88 MT88 2 4", "MOVM": "16 MT88",
    "LDGSTS": f"{_ORDER} {_HINTS} {_WIDTH} ZFILL", "LDG": f"{_ORDER} {_HINTS} {_WIDTH}",
    "LD": f"{_ORDER} {_HINTS} {_WIDTH}",
    "STG": f"{_ORDER} {_HINTS} {_WIDTH}", "ST": f"{_ORDER} {_HINTS} {_WIDTH}", "LDS": f"U {_WIDTH}", "STS": _WIDTH,
    "LDL": f"LU {_HINTS} {_WIDTH}", "STL": f"{_HINTS} {_WIDTH}", "LDC": _WIDTH, "LDCU": _WIDTH, "QSPC": "E S L G",
    "ATOM": _ATOMIC, "ATOMG": _ATOMIC, "RED": _ATOMIC, "REDG": _ATOMIC, "REDS": f"POPC CAST SPIN {_ATOMIC}",
    "ATOMS": f"POPC CAST SPIN ARRIVE {_ATOMIC} 32", "SHFL": "IDX UP DOWN BFLY", "VOTE": "ANY ALL EQ",
    "MATCH": "ANY ALL U64",
    "REDUX": "SUM MIN MAX AND OR XOR S32 U32", "S2R": "32", "S2UR": "32", "CS2R": "32", "R2UR": "", "RPCMOV": "32",
}  # fmt: skip
_PLAIN_NAMES = {"VOTEU": "VOTE", "ULDC": "LDC", "LDCU": "LDCU", "CREDUX": "REDUX", "CS2UR": "CS2R", "UVIMNMX": "VIMNMX"}
KNOWN: Mapping[str, frozenset[str]] = {opcode: frozenset(words.split()) for opcode, words in _WORDS.items()}


def strange(opcode: str, modifiers: frozenset[str]) -> frozenset[str]:
    """The modifiers that nothing here gives a meaning; those of the uniform forms are those of the plain ones."""
    plain = _PLAIN_NAMES.get(opcode, opcode)
    known = KNOWN.get(plain, KNOWN.get(plain.removeprefix("U")))
    if known is None:
        known = KNOWN.get(plain.removeprefix("U") + "3")
    return frozenset() if known is None else modifiers - known
