from transformers import Wav2Vec2FeatureExtractor

extractor = Wav2Vec2FeatureExtractor()
batch = extractor([[0.1, 0.2, 0.3], [0.1]], sampling_rate=16000, padding="max_length")
