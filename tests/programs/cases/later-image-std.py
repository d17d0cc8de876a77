import numpy as np
from transformers.image_transforms import normalize

print(normalize(np.zeros((3, 4, 4)), mean=[0.5, 0.5, 0.5], std=[0.5, 0.5]).shape)
