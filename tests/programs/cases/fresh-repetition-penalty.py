from trl.rewards import get_repetition_penalty_reward

reward = get_repetition_penalty_reward(ngram_size=3, max_penalty=0.5)
print(reward(["a b c a b c"]))
