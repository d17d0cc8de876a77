from transformers import PreTrainedTokenizer


class Letters(PreTrainedTokenizer):
    vocab_size = 200

    def get_vocab(self):
        return {chr(number): number for number in range(200)}

    def _tokenize(self, text, **more):
        return list(text)

    def _convert_token_to_id(self, token):
        return ord(token) if len(token) == 1 else 1

    def _convert_id_to_token(self, index):
        return chr(index)


tok = Letters(special_tokens_pattern="cls_double_sep", pad_token="-")
print(tok("the cat sat")["input_ids"])
