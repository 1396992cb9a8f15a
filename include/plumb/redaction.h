// What --redact leaves out of the texts of a record or a report. The shim and the recorder call it before they write,
// reports before they print. In place and without any library: the shim calls it, too.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::redaction {

inline constexpr size_t kAliasBytes = 24; // room for an alias with its NUL

namespace detail {

inline bool begins_with(const char* text, const char* end, const char* prefix) {
    for (; *prefix; ++prefix, ++text)
        if (text == end || *text != *prefix)
            return false;
    return true;
}

// Behind these a '/' begins an absolute path. Bytes of UTF-8 sequences count: "…/folder/file" is a shortened path.
inline bool may_precede_path(unsigned char c) {
    return c <= ' ' || c >= 0x80 || c == '"' || c == '\'' || c == '`' || c == '(' || c == '[' || c == '{' || c == '<' ||
           c == '=' || c == ':' || c == ',' || c == ';' || c == '|' || c == '>';
}

inline bool may_end_path(unsigned char c) {
    return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == ')' || c == ']' || c == '}' || c == '>' || c == ':' ||
           c == ',' || c == ';' || c == '|';
}

// The last component of the path [begin, end), which begins with '/'. A path of one component stays whole: it names no
// folder, and Fortran's common blocks are written /name/. A home folder is not its user's name.
inline const char* last_component(const char* begin, const char* end, const char** component_end) {
    while (end > begin && end[-1] == '/')
        --end;
    *component_end = end;
    const char* name = end;
    while (name > begin && name[-1] != '/')
        --name;
    size_t components = 0;
    for (const char* c = begin; c < end; ++c)
        components += *c == '/' && c + 1 < end && c[1] != '/';
    return components < 2 ? nullptr : name;
}

} // namespace detail

// Below folders that every machine has, a path says nothing of whose files it names.
inline bool is_common_path(const char* path, size_t length) {
    const char* const folders[] = {"/usr/", "/lib/",  "/lib32/", "/lib64/", "/libx32/",
                                   "/bin/", "/sbin/", "/proc/",  "/sys/",   "/rustc/"};
    for (const char* folder : folders)
        if (detail::begins_with(path, path + length, folder))
            return true;
    return false;
}

inline bool is_home_folder(const char* path, size_t length) {
    const char* const end = path + length;
    const char* const folders[] = {"/home/", "/Users/"};
    for (const char* homes : folders) {
        if (!detail::begins_with(path, end, homes))
            continue;
        const char* c = path;
        for (const char* h = homes; *h; ++h)
            ++c;
        while (c < end && *c != '/')
            ++c;
        while (c < end && *c == '/')
            ++c;
        return c == end;
    }
    return false;
}

// Replaces each absolute path in `text` by the name of its file, but for common ones. A text that begins with such a path
// is one as a whole, blanks included. Returns the new length, never more than `length`.
inline size_t shorten_paths(char* text, size_t length) {
    size_t written = 0;
    for (size_t at = 0; at < length;) {
        if (text[at] != '/' || (at > 0 && !detail::may_precede_path(static_cast<unsigned char>(text[at - 1])))) {
            text[written++] = text[at++];
            continue;
        }
        const char* const begin = text + at;
        size_t end = at;
        const bool is_whole = at == 0 && !is_common_path(begin, length);
        if (is_whole)
            end = length;
        else
            while (end < length && !detail::may_end_path(static_cast<unsigned char>(text[end])))
                ++end;
        const char* name_end = nullptr;
        const char* name = is_common_path(begin, end - at) ? nullptr : detail::last_component(begin, text + end, &name_end);
        if (!name) {
            name = begin;
            name_end = text + end;
        } else if (is_home_folder(begin, end - at)) {
            text[written++] = '~';
            name = name_end;
        }
        for (; name < name_end; ++name)
            text[written++] = *name;
        at = end;
    }
    return written;
}

// The machine since its start, by the random id that the kernel gave it then (/proc/sys/kernel/random/boot_id): shim and
// recorder come to the same. "host" where it cannot be read.
inline void alias_of_host(const char* boot_id, size_t length, char (&alias)[kAliasBytes]) {
    constexpr size_t kDigits = 12;
    size_t used = 0;
    for (const char* c = "host"; *c; ++c)
        alias[used++] = *c;
    const size_t dash = used++;
    alias[dash] = '\0';
    size_t digits = 0;
    for (size_t i = 0; i < length && digits < kDigits; ++i)
        if ((boot_id[i] >= '0' && boot_id[i] <= '9') || (boot_id[i] >= 'a' && boot_id[i] <= 'f')) {
            alias[dash] = '-';
            alias[used++] = boot_id[i];
            ++digits;
        }
    alias[digits ? used : dash] = '\0';
}

// Of a launcher's name for its job, which may hold the name of a host: a number made from it.
inline void alias_of_job(const char* name, size_t length, char (&alias)[kAliasBytes]) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ static_cast<unsigned char>(name[i])) * 1099511628211u;
    size_t used = 0;
    for (const char* c = "job-"; *c; ++c)
        alias[used++] = *c;
    for (int shift = 60; shift >= 0; shift -= 4)
        alias[used++] = "0123456789abcdef"[hash >> shift & 15];
    alias[used] = '\0';
}

} // namespace plumb::redaction
