import csv
import io

rows = list(csv.DictReader(io.StringIO("step,loss\n1,0.5\n2,n/a\n")))
losses = [float(row["loss"]) for row in rows]
print(losses)
