def build(learning_rate=1e-4, steps=10):
    return {"lr": learning_rate, "steps": steps}


settings = {"lr": 2e-4, "steps": 5}
print(build(**settings))
