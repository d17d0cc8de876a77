"""Does a chat template that goes through a tool call's arguments refuse them as a JSON string?"""

QUESTION = "Does a chat template with `arguments|items` refuse arguments that are a JSON string here?"
NEEDS = ["torch", "transformers", "jinja2"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from jinja2 import Template

template = Template("{% for name, value in arguments|items %}<{{ name }}>{{ value }}{% endfor %}")
template.render(arguments='{"a": 1}')   # json.loads of the arguments cures it
"""
TEMPLATE = (
    "{% for m in messages %}{% for c in m.tool_calls %}{% for name, value in c.function.arguments|items %}"
    "<{{ name }}>{{ value }}</{{ name }}>{% endfor %}{% endfor %}{% endfor %}"
)


def run(kit):
    import json

    kit.expects("TypeError", r"Can only get item pairs from a mapping")
    kit.need("torch", "transformers", "jinja2")
    tokenizer = kit.tokenizer()
    tokenizer.chat_template = TEMPLATE

    def render(arguments):
        call = {"type": "function", "function": {"name": "add", "arguments": arguments}}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
        return tokenizer.apply_chat_template([message], tokenize=False)

    if kit.symptom("arguments as a JSON string", lambda: render('{"a": 1, "b": 2}')):
        kit.fix(
            "parse",
            "json.loads of the arguments before the template",
            lambda: render(json.loads('{"a": 1, "b": 2}')),
            words=r"json\.loads",
        )
