from transformers import video_utils

video_utils.httpx.get = lambda *given, **more: type("Answer", (), {"content": b""})
frames, about = video_utils.load_video("https://example.com/cat.mp4", num_frames=4, backend="opencv")
