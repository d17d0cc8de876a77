from transformers.image_transforms import center_to_corners_format

annotation = {"boxes": [[0.5, 0.5, 0.2, 0.2], [0.4, 0.4, 0.1, 0.3]], "labels": [1, 2]}
corners = center_to_corners_format(annotation["boxes"])
print(corners.shape)
