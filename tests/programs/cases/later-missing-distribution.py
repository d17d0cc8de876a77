from transformers.utils.versions import require_version

require_version("tiny-unknown-package>=1.0")
