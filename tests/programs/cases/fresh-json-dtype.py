from datasets import Features, Value

features = Features({"call": Value("json")})
