#include "tokens/csv.hpp"

#include <algorithm>

namespace backplane::authentication {
namespace {

constexpr std::string_view kBareQuote = "bare \" in non-quoted field", kWrongQuote = "extraneous or missing \" in quoted-field";

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {}

  Result<std::vector<std::vector<std::string>>> read() {
    std::vector<std::vector<std::string>> out;
    while (next_line()) {
      if (line_ == "\n" || line_.empty()) continue;
      first_line_ = number_;
      std::vector<std::string> record;
      while (read_field(record)) continue;
      if (!error_.ok()) return error_;
      out.push_back(std::move(record));
    }
    return out;
  }

 private:
  // Reads the next line. Its end becomes \n; the last line may have no end.
  bool next_line() {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line_ = rest_.substr(0, end == std::string_view::npos ? end : end + 1);
    rest_.remove_prefix(line_.size());
    if (line_.ends_with("\r\n")) line_.replace(line_.size() - 2, 2, "\n");
    if (rest_.empty() && line_.ends_with('\r')) line_.pop_back();
    at_ = 0;
    ++number_;
    return true;
  }

  bool fail(std::size_t column, std::string_view what) {
    std::string text = first_line_ != number_ ? "record on line " + std::to_string(first_line_) + "; parse error on line "
                                              : std::string("parse error on line ");
    error_ = bad_request(text + std::to_string(number_) + ", column " + std::to_string(column + 1) + ": " + std::string(what));
    return false;
  }

  // Reads a field. Returns true if another field follows in the record.
  bool read_field(std::vector<std::string>& record) {
    return line_.substr(at_).starts_with('"') ? quoted_field(record) : plain_field(record);
  }

  bool plain_field(std::vector<std::string>& record) {
    const auto comma = line_.find(',', at_);
    auto end = comma == std::string::npos ? line_.size() : comma;
    if (comma == std::string::npos && line_.ends_with('\n')) --end;
    const std::string_view field = std::string_view(line_).substr(at_, end - at_);
    if (const auto quote = field.find('"'); quote != std::string_view::npos) return fail(at_ + quote, kBareQuote);
    record.emplace_back(field);
    at_ = end + 1;
    return comma != std::string::npos;
  }

  bool quoted_field(std::vector<std::string>& record) {
    std::string field;
    ++at_;
    for (;;) {
      const auto quote = line_.find('"', at_);
      if (quote == std::string::npos) {
        field.append(line_, at_);
        const auto column = line_.size();
        if (!next_line()) return fail(column, kWrongQuote);
        continue;
      }
      field.append(line_, at_, quote - at_);
      at_ = quote + 1;
      const char next = at_ < line_.size() ? line_[at_] : '\n';
      if (next == '"') {
        field.push_back('"');
        ++at_;
        continue;
      }
      if (next != ',' && next != '\n') return fail(quote, kWrongQuote);
      record.push_back(std::move(field));
      ++at_;
      return next == ',';
    }
  }

  std::string_view rest_;
  std::string line_;
  std::size_t at_ = 0, number_ = 0, first_line_ = 0;
  Status error_;
};

}  // namespace

Result<std::vector<std::vector<std::string>>> read_csv(std::string_view text) { return CsvReader(text).read(); }

}  // namespace backplane::authentication
