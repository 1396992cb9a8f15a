"""Adds up the bytes of a file of small records. Planted: one unbuffered read for each record. Cured: buffered."""
import os

with open("records", "wb") as file:
    file.write(bytes(range(256)) * 100000)
total = 0
with open("records", "rb", buffering=-1 if os.environ.get("CURED") else 0) as file:
    while record := file.read(8):
        total += record[0]
print(total)
