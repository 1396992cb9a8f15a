// Whole small files of /proc and /sys, and the numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumb::platform {

// Nothing if it cannot be opened or read (errno says why); at most `limit` bytes.
std::optional<std::string> read_file(const std::string& path, size_t limit = 16u << 20);

// Opens a file of somebody else for reading without waiting for anybody or touching a device. Negative, with errno: it
// is no regular file (EINVAL), a symbolic link where `follow` is false (ELOOP), or mostly a hole: its size says nothing of
// what is stored in it (EFBIG).
int open_foreign_file(const std::string& path, bool follow = true);

// The first number of a file; nothing if there is none.
std::optional<int64_t> read_number(const std::string& path);

// Takes the next blank-separated word off `text`; empty at its end.
std::string_view next_word(std::string_view& text);

// Takes the next line (without its end) off `text`.
std::string_view next_line(std::string_view& text);

// 0 if `word` does not begin with a number.
uint64_t to_u64(std::string_view word);

} // namespace plumb::platform
