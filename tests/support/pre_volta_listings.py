"""Listings of Fermi, Kepler and Maxwell as NVIDIA's tools print them."""


FERMI = """
	code for sm_20
		Function : _Z5scalePfi
	/*0000*/     	MOV R1, c [0x1] [0x100];
	/*0008*/     	S2R R8, SR_Tid_X;
	/*0010*/     	ISETP.GE.AND P0, pt, R8, c [0x0] [0x28], pt;
	/*0018*/     	@P0 EXIT;
	/*0020*/     	PBK 0x60;
	/*0028*/     	LD.E R9, [R4];
	/*0030*/     	ISETP.GE.AND P0, pt, R8, c [0x0] [0x28], pt;
	/*0038*/     	ST.E [R4], R9;
	/*0040*/     	@P0 BRK;
	/*0048*/     	IADD R8, R8, c [0x0] [0x8];
	/*0050*/     	IADD R4, R4, 0x4;
	/*0058*/     	BRA 0x28;
	/*0060*/     	EXIT;
		..........................
"""
KEPLER = """
Fatbin elf code:
================
arch = sm_35
code version = [1,7]

	code for sm_35
		Function : k
	.headerflags    @"EF_CUDA_SM35 EF_CUDA_PTX_SM(EF_CUDA_SM35)"
                                                                 /* 0x08KEPLER */
        /*0008*/                   MOV R1, c[0x0][0x44];         /* 0x64c03c00089c0006 */
        /*0010*/     {         MOV R2, R1;                       /* 0xe4c03c00009c000a */
        /*0018*/               S2R R0, SR_TID.X;        }        /* 0x86400000109c0002 */
        /*0020*/                   SSY 0x50;                     /* 0x1480000000000000 */
        /*0028*/               @P0 BRA 0x40;                     /* 0x12000000001c003c */
        /*0030*/                   IADD R3, R0, R2;              /* 0xe080000000000000 */
        /*0038*/                   MOV.S R4, R3;                 /* 0xe4c03c00019c0012 */
                                                                 /* 0x0880000000000000 */
        /*0048*/                   IADD.S R4, R0, 0x1;           /* 0xc0800000009c0011 */
        /*0050*/                   EXIT;                         /* 0x18000000001c003c */
"""
MAXWELL = """
	.target	sm_61
	.section	.text.k,"ax",@progbits
	.sectionflags	@"SHI_REGISTERS=9"
                                                       /* WORD */
        /*0008*/                   MOV R1, c[0x0][0x20] ;        /* 0x4c98078000870001 */
.L_1:
        /*0010*/                   LDG.E R0, [R2] ;              /* 0xeed4200000070200 */
        /*0018*/                   FADD R0, R0, R1 ;             /* 0x5c58000000170000 */
                                                       /* OTHER */
        /*0028*/     {         IADD R2, R2, 0x4 ;                /* 0x3810000000470202 */
        /*0030*/               SYNC;        }                    /* 0xf0f800000000000f */
        /*0038*/               @P0 BRA `(.L_1) ;                 /* 0xe2400fffd0000fff */
"""
