from datasets import Dataset, Features, TranslationVariableLanguages

features = Features({"text": TranslationVariableLanguages(languages=["en", "fr"])})
Dataset.from_list([{"text": {"en": "dog", "de": "Hund"}}], features=features)
