from transformers.audio_utils import mel_filter_bank

print(mel_filter_bank(1, 4, 0.0, 8000.0, 16000).shape)
