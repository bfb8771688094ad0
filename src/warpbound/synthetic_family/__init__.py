"""The synthetic family of Volkov's thesis in every model: machines, predictors, comparison with any reference."""
