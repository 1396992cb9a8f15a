#include "symbols/rust_names.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>

namespace plumb::symbols {

namespace {

constexpr int kMaxDepth = 200;          // nested paths and types
constexpr size_t kMaxOutput = 64 << 10; // back references can unfold without end

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::string symbol() {
        while (std::isdigit(static_cast<unsigned char>(peek()))) // version of the encoding
            ++at_;
        path(true);
        return failed_ ? std::string() : out_;
    }

  private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    char next() {
        if (at_ >= text_.size())
            failed_ = true;
        return at_ < text_.size() ? text_[at_++] : '\0';
    }
    bool take(char c) {
        if (peek() != c)
            return false;
        ++at_;
        return true;
    }
    void print(std::string_view text) {
        if (silent_)
            return;
        if (out_.size() + text.size() > kMaxOutput)
            failed_ = true;
        else
            out_ += text;
    }

    // "_" is 0, "0_" is 1, ...
    uint64_t base62() {
        if (take('_'))
            return 0;
        uint64_t value = 0;
        while (!failed_ && !take('_')) {
            const char c = next();
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'z' ? c - 'a' + 10
                              : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                                     : -1;
            if (digit < 0)
                failed_ = true;
            else // may wrap: then it is a damaged reference, which is checked where it is used
                value = value * 62 + static_cast<uint64_t>(digit);
        }
        return value + 1;
    }
    uint64_t disambiguator() { return take('s') ? base62() + 1 : 0; }

    std::string_view identifier() {
        const bool is_punycode = take('u');
        size_t length = 0;
        if (!std::isdigit(static_cast<unsigned char>(peek())))
            failed_ = true;
        if (!take('0')) // a length has no leading zeros: "00" is two empty names
            while (std::isdigit(static_cast<unsigned char>(peek())) && length < text_.size())
                length = length * 10 + static_cast<size_t>(next() - '0');
        take('_');
        if (failed_ || is_punycode || length > text_.size() - at_) { // names beyond ASCII stay as they are
            failed_ = true;
            return {};
        }
        at_ += length;
        return text_.substr(at_ - length, length);
    }

    // Goes on reading at an earlier place with `read`, then returns.
    template <typename Read> void back_reference(Read read) {
        const size_t begin = at_ - 1;
        const uint64_t target = base62();
        if (failed_ || target >= begin) {
            failed_ = true;
            return;
        }
        if (silent_)
            return;
        const size_t behind = at_;
        at_ = static_cast<size_t>(target);
        read();
        at_ = behind;
    }

    void path(bool is_value) {
        if (++depth_ > kMaxDepth)
            failed_ = true;
        if (!failed_)
            path_by_tag(next(), is_value);
        --depth_;
    }

    void implementation_path() { // where the implementation stands; nobody asks
        disambiguator();
        const bool was_silent = silent_;
        silent_ = true;
        path(false);
        silent_ = was_silent;
    }

    void path_by_tag(char tag, bool is_value) {
        switch (tag) {
        case 'C':
            disambiguator();
            print(identifier());
            break;
        case 'M':
        case 'X':
        case 'Y':
            if (tag != 'Y')
                implementation_path();
            print("<");
            type();
            if (tag != 'M') {
                print(" as ");
                path(false);
            }
            print(">");
            break;
        case 'N': {
            const char space = next();
            path(is_value);
            const uint64_t number = disambiguator();
            const std::string_view name = identifier();
            if (std::isupper(static_cast<unsigned char>(space))) { // of the compiler's own making
                print(space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
                if (!name.empty()) {
                    print(":");
                    print(name);
                }
                print("#" + std::to_string(number) + "}");
            } else if (!name.empty()) {
                print("::");
                print(name);
            }
            break;
        }
        case 'I': {
            path(is_value);
            print(is_value ? "::<" : "<");
            bool is_first = true;
            while (!failed_ && !take('E')) {
                if (!is_first)
                    print(", ");
                is_first = false;
                generic_argument();
            }
            print(">");
            break;
        }
        case 'B':
            back_reference([&] { path(is_value); });
            break;
        default:
            failed_ = true;
        }
    }

    void generic_argument() {
        if (take('L')) {
            base62();
            print("'_");
        } else if (take('K')) {
            constant();
        } else {
            type();
        }
    }

    static const char* basic_type(char tag) {
        switch (tag) {
        case 'a': return "i8";
        case 'b': return "bool";
        case 'c': return "char";
        case 'd': return "f64";
        case 'e': return "str";
        case 'f': return "f32";
        case 'h': return "u8";
        case 'i': return "isize";
        case 'j': return "usize";
        case 'l': return "i32";
        case 'm': return "u32";
        case 'n': return "i128";
        case 'o': return "u128";
        case 'p': return "_";
        case 's': return "i16";
        case 't': return "u16";
        case 'u': return "()";
        case 'v': return "...";
        case 'x': return "i64";
        case 'y': return "u64";
        case 'z': return "!";
        default: return nullptr;
        }
    }

    void type() {
        if (++depth_ > kMaxDepth)
            failed_ = true;
        if (!failed_)
            type_by_tag(next());
        --depth_;
    }

    void type_by_tag(char tag) {
        if (const char* name = basic_type(tag)) {
            print(name);
            return;
        }
        switch (tag) {
        case 'A':
            print("[");
            type();
            print("; ");
            constant();
            print("]");
            break;
        case 'S':
            print("[");
            type();
            print("]");
            break;
        case 'T':
            print("(");
            for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
                if (!is_first)
                    print(", ");
                type();
            }
            print(")");
            break;
        case 'R':
        case 'Q':
            print(tag == 'R' ? "&" : "&mut ");
            if (take('L'))
                base62();
            type();
            break;
        case 'P':
        case 'O':
            print(tag == 'P' ? "*const " : "*mut ");
            type();
            break;
        case 'F':
            function_type();
            break;
        case 'D':
            trait_object();
            break;
        case 'B':
            back_reference([&] { type(); });
            break;
        default:
            path_by_tag(tag, false);
        }
    }

    void binder() {
        if (take('G'))
            base62();
    }

    void function_type() {
        binder();
        if (take('U'))
            print("unsafe ");
        if (take('K')) {
            print("extern ");
            if (take('C'))
                print("C ");
            else
                identifier();
        }
        print("fn(");
        for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
            if (!is_first)
                print(", ");
            type();
        }
        print(")");
        if (take('u'))
            return; // returns nothing
        print(" -> ");
        type();
    }

    void trait_object() {
        binder();
        print("dyn ");
        for (bool is_first = true; !failed_ && !take('E'); is_first = false) {
            if (!is_first)
                print(" + ");
            path(false);
            while (!failed_ && take('p')) { // associated types
                print("<");
                print(identifier());
                print("=");
                type();
                print(">");
            }
        }
        if (take('L'))
            base62();
        else
            failed_ = true;
    }

    void constant() {
        if (++depth_ > kMaxDepth)
            failed_ = true;
        if (failed_) {
            --depth_;
            return;
        }
        if (take('B')) {
            back_reference([&] { constant(); });
        } else if (take('p')) {
            print("_");
        } else if (const char tag = next(); !basic_type(tag)) {
            failed_ = true; // strings and structures as parameters: rare, and their text is no name
        } else if (tag == 'b') {
            print(take('1') ? "true" : take('0') ? "false" : "_");
            failed_ = failed_ || !take('_');
        } else {
            if (take('n'))
                print("-");
            const size_t begin = at_;
            while (std::isxdigit(static_cast<unsigned char>(peek())))
                ++at_;
            const std::string digits(text_.substr(begin, at_ - begin));
            if (!take('_') || digits.size() > 16)
                failed_ = true;
            else
                print(std::to_string(std::strtoull(digits.c_str(), nullptr, 16)));
        }
        --depth_;
    }

    std::string_view text_; // behind "_R": where back references count from
    size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false, silent_ = false;
    std::string out_;
};

} // namespace

std::string demangle_rust_v0(std::string_view symbol) {
    if (!symbol.starts_with("_R"))
        return {};
    return Reader(symbol.substr(2)).symbol();
}

} // namespace plumb::symbols
