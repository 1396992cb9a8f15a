"""Counts bytes of a file that is read a megabyte at a time."""
with open("blocks", "wb") as file:
    for _ in range(30):
        file.write(bytes(range(256)) * 4096)
counts = [0] * 256
for _ in range(6):
    with open("blocks", "rb") as file:
        while block := file.read(1 << 20):
            for value in range(0, 256, 17):
                counts[value] += block.count(value)
print(counts[17])
