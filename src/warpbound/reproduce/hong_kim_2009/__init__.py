"""S. Hong, H. Kim, extended version of ISCA 2009: its tables, and its figures as far as the model makes them."""

ITEMS = (
    "figs_5_to_8",
    "table_2",
    "table_3",
    "fig_14",
    "table_5",
    "fig_21",
    "figs_22_and_23",
    "figs_25_and_26",
    "table_7",
    "figs_30_and_31",
    "simulated",
)
