from trl.rewards import accuracy_reward

print(accuracy_reward([[{"role": "assistant", "content": "4"}]], ["4"]))
