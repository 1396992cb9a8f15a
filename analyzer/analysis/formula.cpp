#include "analysis/formula.h"

#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace plumb {

namespace {

constexpr size_t kDeepest = 100; // parentheses in parentheses

bool is_space(char character) { return character == ' ' || character == '\t' || character == '\r'; }
bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_letter(char character) { return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_'; }

class Formula {
  public:
    Formula(std::string_view text, double ranks) : text_(text), ranks_(ranks) {}

    double value() {
        const double result = sum();
        if (peek() != '\0')
            fail(fmt::format("an operator was expected before \"{}\"", text_.substr(at_, 1)));
        return result;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("column {}: {}", at_ + 1, what)); }

    char peek() {
        while (at_ < text_.size() && is_space(text_[at_]))
            ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    bool take(char character) {
        if (peek() != character)
            return false;
        ++at_;
        return true;
    }

    void expect(char character) {
        if (!take(character))
            fail(fmt::format("\"{}\" was expected", character));
    }

    double sum() {
        if (++depth_ > kDeepest)
            fail("too many parentheses");
        double value = product();
        for (;;) {
            if (take('+'))
                value += product();
            else if (take('-'))
                value -= product();
            else
                break;
        }
        --depth_;
        return value;
    }

    double product() {
        double value = signed_power();
        for (;;) {
            if (take('*'))
                value *= signed_power();
            else if (take('/'))
                value /= signed_power();
            else
                return value;
        }
    }

    double signed_power() { // -2^2 is -4
        bool is_negative = false;
        for (; peek() == '-' || peek() == '+'; ++at_)
            is_negative ^= text_[at_] == '-';
        const double value = power();
        return is_negative ? -value : value;
    }

    double power() { // 2^3^2 is 2^9
        const double base = primary();
        if (!take('^'))
            return base;
        if (++depth_ > kDeepest)
            fail("too many powers");
        const double exponent = signed_power();
        --depth_;
        return std::pow(base, exponent);
    }

    double primary() {
        const char first = peek();
        if (take('(')) {
            const double value = sum();
            expect(')');
            return value;
        }
        if (is_digit(first) || first == '.')
            return number();
        if (is_letter(first))
            return named();
        fail(first == '\0' ? "a number, \"ranks\" or \"(\" was expected, and the formula ends"
                           : fmt::format("a number, \"ranks\" or \"(\" was expected instead of \"{}\"", text_.substr(at_, 1)));
    }

    double number() {
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc())
            fail("this is not a number");
        at_ = static_cast<size_t>(end - text_.data());
        return value;
    }

    double named() {
        const size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])))
            ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (name == "ranks")
            return ranks_;
        const size_t wanted = name == "min" || name == "max" ? 2 : 1;
        static constexpr std::string_view kFunctions[] = {"log2", "log", "sqrt", "exp", "ceil", "floor", "min", "max"};
        if (std::ranges::find(kFunctions, name) == std::end(kFunctions)) {
            at_ = begin;
            fail(fmt::format("\"{}\" is not known; there are ranks, log2, log, sqrt, exp, ceil, floor, min and max", name));
        }
        expect('(');
        const double first = sum();
        double second = 0;
        if (wanted == 2) {
            expect(',');
            second = sum();
        }
        expect(')');
        return apply(name, first, second);
    }

    static double apply(std::string_view name, double first, double second) {
        if (name == "log2")
            return std::log2(first);
        if (name == "log")
            return std::log(first);
        if (name == "sqrt")
            return std::sqrt(first);
        if (name == "exp")
            return std::exp(first);
        if (name == "ceil")
            return std::ceil(first);
        if (name == "floor")
            return std::floor(first);
        return name == "min" ? std::min(first, second) : std::max(first, second);
    }

    std::string_view text_;
    double ranks_;
    size_t at_ = 0, depth_ = 0;
};

} // namespace

double value_of_formula(std::string_view text, double ranks) { return Formula(text, ranks).value(); }

} // namespace plumb
