#include "schema/parse_repeated.hpp"

#include <set>

#include "schema/members.hpp"
#include "schema/place.hpp"
#include "schema/scan.hpp"

namespace backplane::schema {
namespace {

// Upstream reports at most this many problems of one body.
constexpr std::size_t kMaxProblems = 100;

class Reader {
 public:
  Reader(json::storage_ptr storage, DecodeReport* report)
      : storage_(std::move(storage)), report_(report), merge_(!report || report->merge_duplicates) {}

  void read(Value& into, std::string_view raw, const Place& place) {
    if (raw.front() == '{') {
      read_object(into, raw, place);
    } else if (raw.front() == '[') {
      read_array(into, raw, place);
    } else {
      into = scalar(raw);
    }
  }

 private:
  void read_object(Value& into, std::string_view raw, const Place& place) {
    if (!merge_ || !into.is_object()) into = Object(storage_);
    Object& object = into.get_object();
    std::set<std::string> seen;
    Scanner scanner(raw);
    std::string_view raw_key;
    scanner.enter('{');
    while (scanner.next_key(raw_key)) {
      std::string key = unescape(raw_key);
      const std::string_view value = scanner.value();
      if (!seen.insert(key).second) note(place, key);
      Value before(storage_);
      if (Value* old = find(object, key)) {
        if (merge_) before = std::move(*old);
        drop_member(object, key);
      }
      read(before, value, place.member(key));
      object.emplace(key, std::move(before));
    }
  }

  void read_array(Value& into, std::string_view raw, const Place& place) {
    if (!merge_ || !into.is_array()) into = Array(storage_);
    Array& array = into.get_array();
    std::size_t count = 0;
    Scanner scanner(raw);
    scanner.enter('[');
    while (scanner.next_item()) {
      if (count == array.size()) array.emplace_back(nullptr);
      read(array[count], scanner.value(), place.item(count));
      ++count;
    }
    array.resize(count);
  }

  Value scalar(std::string_view raw) const {
    auto parsed = parse_json(raw, storage_, nullptr);
    return parsed.ok() ? std::move(*parsed) : Value(nullptr, storage_);
  }
  std::string unescape(std::string_view raw_key) const {
    if (raw_key.find('\\') == std::string_view::npos) return std::string(raw_key);
    const Value key = scalar('"' + std::string(raw_key) + '"');
    return std::string(key.get_string());
  }

  void note(const Place& place, const std::string& key) {
    if (!report_ || report_->problems.size() >= kMaxProblems) return;
    std::string text = "duplicate field " + quoted(place.member(key).path());
    for (const std::string& known : report_->problems) {
      if (known == text) return;
    }
    report_->problems.push_back(std::move(text));
    report_->duplicates.push_back({place.path(), key});
  }

  json::storage_ptr storage_;
  DecodeReport* report_;
  bool merge_;
};

}  // namespace

Value parse_repeated(std::string_view text, json::storage_ptr storage, DecodeReport* report) {
  Value out(storage);
  Scanner scanner(text);
  Reader(std::move(storage), report).read(out, scanner.value(), Place());
  return out;
}

}  // namespace backplane::schema
