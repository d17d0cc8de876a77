"""Does a chat template that wants alternating roles refuse a system message or repeated roles?"""

QUESTION = "Does a template that wants user and assistant to alternate refuse other orders here?"
NEEDS = ["torch", "transformers", "jinja2"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
tokenizer.apply_chat_template([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}])
"""
ALTERNATING = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
    "{% endif %}{{ m.content }}{% endfor %}"
)
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def run(kit):
    kit.expects("TemplateError", r"onversation roles must alternate")
    kit.need("torch", "transformers", "jinja2")
    messages = [("system", "Be brief."), ("user", "Hello"), ("user", "there"), ("assistant", "Hi")]

    def render(template, rows):
        tokenizer = kit.tokenizer()
        tokenizer.chat_template = template
        rows = [{"role": role, "content": content} for role, content in rows]
        return tokenizer.apply_chat_template(rows, tokenize=False)

    def merged(rows):
        out = []
        for role, content in rows:
            role = "user" if role == "system" else role
            if out and out[-1][0] == role:
                content = out.pop()[1] + "\n\n" + content
            out.append((role, content))
        return out

    if kit.symptom("a system message and two user messages in a row", lambda: render(ALTERNATING, messages)):
        kit.fix(
            "merge",
            "fold the system message in and merge repeated roles",
            lambda: render(ALTERNATING, merged(messages)),
            words=r"def fix\(messages\)",
        )
        kit.fix(
            "chatml", "a template that takes these roles", lambda: render(CHATML, messages), words=r"<\|im_start\|>"
        )
