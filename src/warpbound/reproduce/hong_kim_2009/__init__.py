"""S. Hong, H. Kim, extended version of ISCA 2009: its tables, and its figures as far as the model gives them."""
