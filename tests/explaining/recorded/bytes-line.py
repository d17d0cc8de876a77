"""A line of predictions is joined of bytes and text."""


def write(rows, path):
    with open(path, "wb") as file:
        for word, label in rows:
            file.write(word.encode("utf-8") + " " + label + "\n")


write([("tower", "B")], "decoded.txt")
