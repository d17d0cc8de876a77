from transformers.image_utils import make_list_of_images

images = make_list_of_images("cat.png")
