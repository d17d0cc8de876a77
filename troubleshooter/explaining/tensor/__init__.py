"""What torch and NumPy need of shapes, dtypes, indices and devices, and which operand does not fit."""
