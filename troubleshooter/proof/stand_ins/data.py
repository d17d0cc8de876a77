"""Data sets, rows and media of the reader."""

import datasets
import torch
import transformers


class Data:
    """Eight rows with the columns that a text names, and what is made of them."""

    def make_dataset(self):
        rows = [
            {"text": "the quick brown fox", "prompt": "hello", "completion": " world", "chosen": "yes", "rejected": "no", "label": i % 2,
             "question": "hello", "answer": "world", "instruction": "hello", "input": "the", "output": "world", "labels": [4, 5, 6, 7],
             "input_ids": [4, 5, 6, 7], "attention_mask": [1, 1, 1, 1], "response": "world", "query": "hello",
             "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}],
             "conversations": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]}
            for i in range(8)
        ]  # fmt: skip
        columns = [name for name in dict.fromkeys([*rows[0], *self.wishes.columns]) if name not in self.wishes.without]
        return datasets.Dataset.from_list([{name: row.get(name, "hello") for name in columns} for row in rows])

    def make_splits(self):
        found = self.make_dataset()
        return datasets.DatasetDict(train=found, test=found, validation=found)

    def make_tokenized(self):
        rows = [{"input_ids": [4, 5, 6, 7], "attention_mask": [1, 1, 1, 1], "labels": [4, 5, 6, 7]} for _ in range(8)]
        return datasets.Dataset.from_list(rows)

    def make_rows(self):
        return self.named("dataset").to_list()

    def make_row(self):
        return dict(self.named("dataset")[0])

    def make_frame(self):
        return self.named("dataset").to_pandas()

    def make_data_collator(self):
        return transformers.DataCollatorForLanguageModeling(self.named("tokenizer"), mlm=False)

    def make_train_dataloader(self):
        return torch.utils.data.DataLoader(
            self.named("tokenized"), batch_size=2, collate_fn=transformers.default_data_collator
        )

    def make_batch(self):
        made = self.named("tokenizer")(["the quick", "brown fox"], return_tensors="pt", padding=True)
        made["labels"] = made["input_ids"].clone()
        return made
