#include "lab/plot/formula_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "lab/cli/html.hpp"
#include "lab/cli/human.hpp"

namespace bcos::lab::plot {
namespace {

using Level = TextPiece::Level;
using Spelling = std::pair<std::string_view, std::string_view>;

constexpr std::array<Spelling, 28> kLetters = {
    {{"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"},   {"eps", "ε"},
     {"zeta", "ζ"},  {"eta", "η"},   {"theta", "θ"}, {"kappa", "κ"},   {"lambda", "λ"},
     {"mu", "μ"},    {"nu", "ν"},    {"xi", "ξ"},    {"pi", "π"},      {"rho", "ρ"},
     {"sigma", "σ"}, {"tau", "τ"},   {"phi", "φ"},   {"psi", "ψ"},     {"gammahat", "γ̂"},
     {"err", "err"}, {"Var", "Var"}, {"Cov", "Cov"}, {"Corr", "Corr"}, {"SNR", "SNR"},
     {"max", "max"}, {"min", "min"}, {"sup", "sup"}}};
constexpr std::array<Spelling, 6> kSigns = {
    {{"<=", "≤"}, {">=", "≥"}, {"!=", "≠"}, {"->", "→"}, {"+-", "±"}, {" - ", " − "}}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Reads from left to right; `can_carry_` is whether an index may follow what was read last.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<TextPiece> pieces() {
    while (at_ < text_.size()) read();
    return std::move(pieces_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void put(Level level, std::string_view words) {
    if (words.empty()) return;
    if (pieces_.empty() || pieces_.back().level != level) pieces_.push_back({level, ""});
    pieces_.back().text += words;
  }

  void read() {
    const char c = peek();
    if (is_letter(c)) return word();
    if (c == '_' && can_carry_ && index(Level::low)) return;
    if (c == '^' && (can_carry_ || can_be_raised_) && index(Level::high)) return;
    if (c == '<' && product()) return;
    if (c == '-' && minus()) return;
    for (const auto& [typed, shown] : kSigns) {
      if (!text_.substr(at_).starts_with(typed)) continue;
      put(Level::line, shown);
      at_ += typed.size();
      can_carry_ = can_be_raised_ = false;
      return;
    }
    if (at_ == product_end_) {
      put(Level::line, "⟩");
      ++at_;
      return;
    }
    put(Level::line, text_.substr(at_++, 1));
    can_carry_ = c == '|' || c == ')' || c == ']';
    can_be_raised_ = is_digit(c);
  }

  void word() {
    const std::size_t begin = at_;
    while (is_letter(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool part_of_name = begin > 0 && text_[begin - 1] == '_';
    const auto letter = std::ranges::find(kLetters, word, &Spelling::first);
    can_be_raised_ = true;
    can_carry_ = !part_of_name && (word.size() == 1 || letter != kLetters.end());
    if (letter != kLetters.end() && !part_of_name) return put(Level::line, letter->second);
    if (word == "sqrt" && (peek() == '(' || (peek() == ' ' && is_operand(1)))) {
      at_ += peek() == ' ' ? 1 : 0;
      return put(Level::line, "√");
    }
    if (word == "sum" && peek() == '_') {
      can_carry_ = true;
      return put(Level::line, "∑");
    }
    put(Level::line, word);
  }

  /// Whether a number, a bracket or a name of one letter, Greek ones included, stands there.
  bool is_operand(std::size_t ahead) const {
    const char c = peek(ahead);
    if (c == '.') return is_digit(peek(ahead + 1));
    if (!is_letter(c)) return is_digit(c) || c == '(' || c == '[' || c == '|';
    std::size_t end = ahead;
    while (is_letter(peek(end))) ++end;
    const std::string_view word = text_.substr(at_ + ahead, end - ahead);
    return word.size() == 1 ||
           std::ranges::find(kLetters, word, &Spelling::first) != kLetters.end();
  }

  /// A hyphen between or before operands is a minus; those of words and of 1e-3 are not.
  bool minus() {
    const char before = at_ == 0 ? ' ' : text_[at_ - 1];
    const bool begins = std::string_view(" ([{=,/").find(before) != std::string_view::npos;
    const bool exponent = before == 'e' && at_ > 1 && is_digit(text_[at_ - 2]);
    if (!is_operand(1) || exponent || !(begins || can_carry_ || is_digit(before))) return false;
    put(Level::line, "−");
    ++at_;
    can_carry_ = can_be_raised_ = false;
    return true;
  }

  /// "_t", "_*", "_{t,k}", "^2", "^{-1}", "^(2p)": false if nothing stands there.
  bool index(Level level) {
    const std::string_view rest = text_.substr(at_ + 1);
    std::size_t length = 0;
    std::string_view inside;
    const char open = rest.empty() ? '\0' : rest.front();
    if (open == '{' || (open == '(' && level == Level::high)) {
      const std::size_t close = rest.find(open == '{' ? '}' : ')');
      if (close == std::string_view::npos) return false;
      length = close + 1;
      inside = rest.substr(1, close - 1);
    } else {
      length = level == Level::low ? low_length(rest) : high_length(rest);
      inside = rest.substr(0, length);
    }
    if (inside.empty()) return false;
    // Indices of indices are rare enough to stand beside each other.
    for (const TextPiece& piece : Reader(inside == "inf" ? "∞" : inside).pieces()) {
      put(level, piece.text);
    }
    at_ += 1 + length;
    can_carry_ = true;
    return true;
  }

  static std::size_t low_length(std::string_view rest) {
    std::size_t length = 0;
    while (length < rest.size() &&
           (is_letter(rest[length]) || is_digit(rest[length]) || rest[length] == '*')) {
      ++length;
    }
    return length;
  }

  static std::size_t high_length(std::string_view rest) {
    std::size_t length = rest.starts_with('-') ? 1 : 0;
    const std::size_t begin = length;
    const bool number = begin < rest.size() &&
                        (is_digit(rest[begin]) || (rest[begin] == '.' && begin + 1 < rest.size() &&
                                                   is_digit(rest[begin + 1])));
    while (length < rest.size() &&
           (number ? is_digit(rest[length]) || (rest[length] == '.' && length + 1 < rest.size() &&
                                                is_digit(rest[length + 1]))
                   : is_letter(rest[length]))) {
      ++length;
    }
    return length == begin ? 0 : length;
  }

  /// <a, b>; a "less than" has a space after it, or no ">" and comma.
  bool product() {
    const char next = peek(1);
    if (next == ' ' || next == '=' || next == '\0') return false;
    const std::string_view rest = text_.substr(at_ + 1);
    std::size_t close = rest.find('>');
    while (close != std::string_view::npos && rest[close - (close > 0 ? 1 : 0)] == '-') {
      close = rest.find('>', close + 1);
    }
    if (close == std::string_view::npos) return false;
    const std::string_view inside = rest.substr(0, close);
    if (inside.find(',') == std::string_view::npos || inside.find('<') != std::string_view::npos) {
      return false;
    }
    product_end_ = at_ + 1 + close;
    put(Level::line, "⟨");
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t product_end_ = std::string_view::npos;
  bool can_carry_ = false;
  bool can_be_raised_ = false;
  std::vector<TextPiece> pieces_;
};

}  // namespace

std::vector<TextPiece> formula_pieces(std::string_view text) { return Reader(text).pieces(); }

std::string formula_html(std::string_view text) {
  std::string out;
  for (const TextPiece& piece : formula_pieces(text)) {
    const std::string words = cli::html_text(piece.text);
    switch (piece.level) {
      case Level::low:
        out += "<sub>" + words + "</sub>";
        break;
      case Level::high:
        out += "<sup>" + words + "</sup>";
        break;
      default:
        out += words;
    }
  }
  return out;
}

std::string formula_svg(std::string_view text) {
  constexpr int kLow = 3;
  constexpr int kHigh = -5;
  std::string out;
  int shift = 0;
  for (const TextPiece& piece : formula_pieces(text)) {
    const int wanted = piece.level == Level::line ? 0 : piece.level == Level::low ? kLow : kHigh;
    const std::string words = cli::html_text(piece.text);
    if (wanted == shift && wanted == 0) {
      out += words;
    } else {
      out += fmt::format("<tspan dy=\"{}\"{}>{}</tspan>", wanted - shift,
                         wanted == 0 ? "" : " font-size=\"75%\"", words);
    }
    shift = wanted;
  }
  return out;
}

double formula_width(std::string_view text) {
  double width = 0;
  for (const TextPiece& piece : formula_pieces(text)) {
    width += (piece.level == Level::line ? 1 : 0.75) * cli::display_columns(piece.text);
  }
  return width;
}

}  // namespace bcos::lab::plot
