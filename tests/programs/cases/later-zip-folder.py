import zipfile
from datasets.utils.file_utils import xlistdir

with zipfile.ZipFile("rows.zip", "w") as file:
    file.writestr("data/a.txt", "a")
print(xlistdir("zip://rows::rows.zip"))
