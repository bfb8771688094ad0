"""Layout of instructions and control words in memory, by architecture.

Source   NVIDIA's disassemblies: from Volta on 16 bytes each with its own control word; on Maxwell and Pascal 8 bytes,
         one word of three control fields before every three; on Kepler one word before every seven; before that none,
         on 1.x 4 or 8 bytes. Fields of Maxwell: S. Gray, maxas, "Control Codes"; there a stall count of 0 pairs an
         instruction with the next one, as in all pairs that disassemblers put into braces; on Kepler the byte 0x04
         does: C. Bumiller's notes on Fermi and Kepler (envytools). Where parameters begin in constant bank 0: cubins of
         NVRTC 13.5 for sm_75 to sm_121; before, published listings (Volkov's vector addition on Kepler).
"""

FIRST_WITH_OWN_WORDS = 70  # the first with 128-bit instructions that carry their own control word
MAXWELL, KEPLER, FERMI = 50, 30, 20
_GK110 = 35  # shifts Kepler's bytes by two bits instead of four
_FIELD_BITS = 21  # of one instruction of Maxwell
_PAIRED = 0x04


def instruction_bytes(arch: int) -> int:
    """Bytes from one instruction to the next, control words aside."""
    return 16 if arch >= FIRST_WITH_OWN_WORDS else 8


def follows(arch: int, last: int, address: int) -> bool:
    """Whether the instruction at `address` is the one behind `last`: nothing but a control word lies between."""
    step = address - last
    if arch < FERMI:
        return step in (4, 8)
    group = _group_bytes(arch)
    return step == instruction_bytes(arch) or (group > 0 and step == 16 and (last + 8) % group == 0)


def control_field(arch: int, word: int, place: int) -> int | None:
    """The 21 control bits of the instruction at this place (0, 1, 2) behind a Maxwell word; None elsewhere."""
    if not MAXWELL <= arch < FIRST_WITH_OWN_WORDS or place > 2:
        return None
    return word >> _FIELD_BITS * place & (1 << _FIELD_BITS) - 1


def is_paired(arch: int, word: int, place: int) -> bool:
    """Whether a Kepler control word pairs the instruction at this place (0 to 6) with the next one."""
    if not KEPLER <= arch < MAXWELL or place > 6:
        return False
    return word >> (2 if arch >= _GK110 else 4) + 8 * place & 0xFF == _PAIRED


def group_size(arch: int) -> int:
    """Instructions that one control word serves; 0 where there is none."""
    return max(0, _group_bytes(arch) // 8 - 1)


def _group_bytes(arch: int) -> int:
    """Bytes of a control word and the instructions behind it; 0 where there is none."""
    if MAXWELL <= arch < FIRST_WITH_OWN_WORDS:
        return 32
    return 64 if KEPLER <= arch < MAXWELL else 0


def parameter_base(arch: int) -> int:
    """Where the parameters begin in constant bank 0, bytes; of 1.x, which have them in shared memory, 0x10."""
    first = ((100, 0x380), (90, 0x210), (FIRST_WITH_OWN_WORDS, 0x160), (KEPLER, 0x140), (FERMI, 0x20))
    return next((base for since, base in first if arch >= since), 0x10)
