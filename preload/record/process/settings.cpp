#include "record/process/settings.h"

#include "platform/os/text.h"

namespace plumb::shim {
namespace {

struct Description {
    const char* name;
    const char* effect;
};
constexpr Description kDescriptions[] = {
#define PLUMB_X(identifier, name, effect) {name, effect},
    PLUMB_ENVIRONMENT(PLUMB_X)
#undef PLUMB_X
};

} // namespace

constinit Settings settings;

void Settings::read(const char* const* environment) {
    size_t used = 0;
    for (const char*& text : texts_)
        text = nullptr;
    for (; environment && *environment; ++environment) {
        const char* entry = *environment;
        if (strncmp(entry, "PLUMB_", 6) != 0)
            continue;
        for (uint32_t i = 0; i < static_cast<uint32_t>(Setting::count); ++i) {
            const size_t length = strlen(kDescriptions[i].name);
            if (texts_[i] || strncmp(entry, kDescriptions[i].name, length) != 0 || entry[length] != '=')
                continue;
            const char* value = entry + length + 1;
            const size_t bytes = strlen(value) + 1;
            if (bytes == 1 || bytes > sizeof copies_ - used)
                break;
            texts_[i] = static_cast<const char*>(memcpy(copies_ + used, value, bytes));
            used += bytes;
            break;
        }
    }
}

uint64_t Settings::number(Setting setting, uint64_t fallback) const { return parse_number(text(setting), fallback); }

bool Settings::lists(Setting setting, const char* word) const {
    const char* list = text(setting);
    if (!list)
        return true;
    const size_t length = strlen(word);
    for (;;) {
        const char* comma = strchr(list, ',');
        const size_t item = comma ? static_cast<size_t>(comma - list) : strlen(list);
        if (item == length && memcmp(list, word, length) == 0)
            return true;
        if (!comma)
            return false;
        list = comma + 1;
    }
}

void Settings::print(void (*line)(const char* text, size_t length)) const {
    for (uint32_t i = 0; i < static_cast<uint32_t>(Setting::count); ++i) {
        Text<1024> row;
        row << "plumb:   " << kDescriptions[i].name << "=" << (texts_[i] ? texts_[i] : "(unset)") << "  "
            << kDescriptions[i].effect << "\n";
        line(row.c_str(), row.length());
    }
}

} // namespace plumb::shim
