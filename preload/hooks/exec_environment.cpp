#include "hooks/exec_environment.h"

namespace plumb::shim {
namespace {

constexpr char kVariable[] = "LD_PRELOAD=";
constexpr size_t kVariableLength = sizeof kVariable - 1;
constexpr char kSeparators[] = " :"; // as the loader takes them
constexpr const char* kOwnNames[] = {"libplumb.so", "libplumb-strings.so"};

// One entry of the list, which ends at `end`.
bool is_own(const char* entry, const char* end) {
    const char* name = entry;
    for (const char* at = entry; at < end; ++at)
        if (*at == '/')
            name = at + 1;
    const size_t length = static_cast<size_t>(end - name);
    for (const char* own : kOwnNames)
        if (strlen(own) == length && memcmp(own, name, length) == 0)
            return true;
    return false;
}

// Calls action(begin, end) for the entries of the list.
template <class Action> void for_each_entry(const char* preload, Action action) {
    for (const char* at = preload + kVariableLength; *at;) {
        const char* const end = at + strcspn(at, kSeparators);
        if (end != at)
            action(at, end);
        at = *end ? end + 1 : end;
    }
}

} // namespace

const char* own_preload_of(char* const* environment) {
    for (; *environment; ++environment) {
        if (strncmp(*environment, kVariable, kVariableLength) != 0)
            continue;
        bool own = false;
        for_each_entry(*environment, [&](const char* entry, const char* end) { own |= is_own(entry, end); });
        if (own)
            return *environment;
    }
    return nullptr;
}

bool write_foreign_preload(const char* preload, char* text) {
    memcpy(text, kVariable, kVariableLength);
    char* to = text + kVariableLength;
    for_each_entry(preload, [&](const char* entry, const char* end) {
        if (is_own(entry, end))
            return;
        if (to != text + kVariableLength)
            *to++ = ':';
        memcpy(to, entry, static_cast<size_t>(end - entry));
        to += end - entry;
    });
    *to = '\0';
    return to != text + kVariableLength;
}

void copy_environment(char* const* environment, const char* preload, char* text, char** copy) {
    for (; *environment; ++environment) {
        if (*environment != preload)
            *copy++ = *environment;
        else if (text)
            *copy++ = text;
    }
    *copy = nullptr;
}

} // namespace plumb::shim
