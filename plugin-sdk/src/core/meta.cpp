// Reads and changes ObjectMeta in place; formats times; makes random names.
#include "backplane/core/meta.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>

namespace backplane BACKPLANE_API {
namespace {

// Members of ObjectMeta in the order in which objects of built-in kinds print them.
constexpr std::array<std::string_view, 15> kMetaOrder = {"name",
                                                         "generateName",
                                                         "namespace",
                                                         "selfLink",
                                                         "uid",
                                                         "resourceVersion",
                                                         "generation",
                                                         "creationTimestamp",
                                                         "deletionTimestamp",
                                                         "deletionGracePeriodSeconds",
                                                         "labels",
                                                         "annotations",
                                                         "ownerReferences",
                                                         "finalizers",
                                                         "managedFields"};

std::size_t rank_of(std::string_view key) noexcept {
  return static_cast<std::size_t>(std::find(kMetaOrder.begin(), kMetaOrder.end(), key) - kMetaOrder.begin());
}

// Returns the member `key`. If it is absent, inserts it in the order of ObjectMeta, so that canonical objects remain canonical.
Value& place(Object& metadata, std::string_view key) {
  if (Value* found = metadata.if_contains(key)) return *found;
  const std::size_t rank = rank_of(key);
  const auto follows = [rank](const auto& member) { return rank_of(member.key()) > rank; };
  const auto next = std::find_if(metadata.begin(), metadata.end(), follows);
  if (next == metadata.end()) return metadata.emplace(key, nullptr).first->value();
  // A json::object cannot insert a member before others, so the object is rebuilt, with room for the members that the server sets.
  Object out(metadata.storage());
  out.reserve(kMetaOrder.size());
  for (auto it = metadata.begin(); it != metadata.end(); ++it) {
    if (it == next) out.emplace(key, nullptr);
    out.emplace(it->key(), std::move(it->value()));
  }
  metadata = std::move(out);
  return *metadata.if_contains(key);
}

const Object* metadata_of(const Object& object) noexcept { return get_object(object, "metadata"); }

void fill_random(void* out, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(out);
  while (size > 0) {
    const ssize_t got = getrandom(bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();  // The kernel always has random bytes once it has booted.
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

// Provides random bytes, which it reads from the kernel in large blocks.
class RandomPool {
 public:
  void take(void* out, std::size_t size) {
    if (used_ + size > pool_.size()) {
      fill_random(pool_.data(), pool_.size());
      used_ = 0;
    }
    std::copy_n(pool_.data() + used_, size, static_cast<unsigned char*>(out));
    used_ += size;
  }

 private:
  std::array<unsigned char, 1024> pool_{};
  std::size_t used_ = pool_.size();
};
thread_local RandomPool t_random;

// Appends `number` with leading zeros to `count` digits. A longer number is appended completely.
void append_digits(std::string& out, int number, int count) {
  std::array<char, 12> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  for (auto length = end - text.data(); length < count; ++length) out.push_back('0');
  out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

// Does not use printf, which is slow, because every write formats a time.
std::string format(std::int64_t seconds, int micros) {
  const std::time_t when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&when, &parts);
  std::string out;
  out.reserve(27);
  append_digits(out, parts.tm_year + 1900, 4);
  const std::pair<char, int> others[] = {
      {'-', parts.tm_mon + 1}, {'-', parts.tm_mday}, {'T', parts.tm_hour}, {':', parts.tm_min}, {':', parts.tm_sec}};
  for (const auto& [lead, number] : others) {
    out.push_back(lead);
    append_digits(out, number, 2);
  }
  if (micros >= 0) {
    out.push_back('.');
    append_digits(out, micros, 6);
  }
  out.push_back('Z');
  return out;
}

// Returns the number of the `count` digits at `at`; -1 if they are not digits.
int digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  if (at + count > text.size()) return -1;
  int number = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

int days_in_month(int year, int month) noexcept {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Returns the seconds east of UTC of "Z" or "+hh:mm"; nullopt if malformed.
std::optional<int> zone_offset(std::string_view zone) noexcept {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const int hours = digits(zone, 1, 2);
  const int minutes = digits(zone, 4, 2);
  if (hours < 0 || hours > 24 || minutes < 0 || minutes > 60) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

}  // namespace

GroupVersion GroupVersion::parse(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

std::string_view ObjectMeta::text(std::string_view key) const noexcept { return meta_text(object_, key); }

std::int64_t ObjectMeta::generation() const noexcept {
  const Object* metadata = metadata_of(object_);
  return metadata ? get_int(*metadata, "generation").value_or(0) : 0;
}
std::optional<std::int64_t> ObjectMeta::deletion_grace_period_seconds() const noexcept {
  const Object* metadata = metadata_of(object_);
  return metadata ? get_int(*metadata, "deletionGracePeriodSeconds") : std::nullopt;
}
std::vector<std::string> ObjectMeta::finalizers() const {
  std::vector<std::string> out;
  const Object* metadata = metadata_of(object_);
  const Array* list = metadata ? get_array(*metadata, "finalizers") : nullptr;
  if (list == nullptr) return out;
  for (const Value& item : *list) {
    if (item.is_string()) out.emplace_back(item.get_string().data(), item.get_string().size());
  }
  return out;
}
const Object* ObjectMeta::labels() const noexcept {
  const Object* metadata = metadata_of(object_);
  return metadata ? get_object(*metadata, "labels") : nullptr;
}
const Object* ObjectMeta::annotations() const noexcept {
  const Object* metadata = metadata_of(object_);
  return metadata ? get_object(*metadata, "annotations") : nullptr;
}

void ObjectMeta::set(std::string_view key, std::string_view text) {
  if (text.empty()) {
    if (Value* metadata = object_.if_contains("metadata"); metadata && metadata->is_object()) erase_member(metadata->get_object(), key);
    return;
  }
  place(mutable_metadata(), key).emplace_string().assign(text);
}
void ObjectMeta::set_generation(std::int64_t generation) {
  if (generation == 0) {
    erase_member(mutable_metadata(), "generation");
  } else {
    place(mutable_metadata(), "generation") = generation;
  }
}
void ObjectMeta::set_deletion_grace_period_seconds(std::optional<std::int64_t> seconds) {
  if (seconds) {
    place(mutable_metadata(), "deletionGracePeriodSeconds") = *seconds;
  } else {
    erase_member(mutable_metadata(), "deletionGracePeriodSeconds");
  }
}
void ObjectMeta::set_finalizers(const std::vector<std::string>& finalizers) {
  if (finalizers.empty()) {
    erase_member(mutable_metadata(), "finalizers");
    return;
  }
  Array& list = place(mutable_metadata(), "finalizers").emplace_array();
  for (const std::string& name : finalizers) list.emplace_back(name);
}
Object& ObjectMeta::mutable_labels() {
  Value& labels = place(mutable_metadata(), "labels");
  return labels.is_object() ? labels.get_object() : labels.emplace_object();
}
Object& ObjectMeta::mutable_annotations() {
  Value& annotations = place(mutable_metadata(), "annotations");
  return annotations.is_object() ? annotations.get_object() : annotations.emplace_object();
}
Object& ObjectMeta::mutable_metadata() { return ensure_object(object_, "metadata"); }

std::string_view meta_name(const Object& object) noexcept { return meta_text(object, "name"); }
std::string_view meta_namespace(const Object& object) noexcept { return meta_text(object, "namespace"); }
std::string_view meta_text(const Object& object, std::string_view key) noexcept {
  const Object* metadata = metadata_of(object);
  return metadata ? get_string(*metadata, key) : std::string_view();
}

std::string now_rfc3339() {
  // Caches the text for all writes in the same second.
  thread_local std::int64_t last = -1;
  thread_local std::string text;
  if (const std::int64_t now = std::time(nullptr); now != last) {
    text = format(now, -1);
    last = now;
  }
  return text;
}
std::string now_micro_rfc3339() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return format(micros / 1'000'000, static_cast<int>(micros % 1'000'000));
}
std::string format_rfc3339(std::int64_t unix_seconds) { return format(unix_seconds, -1); }

std::optional<std::int64_t> parse_rfc3339(std::string_view text) noexcept {
  // The format is 2006-01-02T15:04:05[.fraction]zone.
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return std::nullopt;
  std::size_t at = 19;
  if (text[at] == '.' || text[at] == ',') {
    const std::size_t first = ++at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == first) return std::nullopt;
  }
  const auto offset = zone_offset(text.substr(at));
  if (!offset) return std::nullopt;
  std::tm parts{};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  return static_cast<std::int64_t>(timegm(&parts)) - *offset;
}

std::string new_uid() {
  std::array<unsigned char, 16> bytes{};
  t_random.take(bytes.data(), bytes.size());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out(36, '-');
  char* to = out.data();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++to;
    *to++ = kHex[bytes[i] >> 4];
    *to++ = kHex[bytes[i] & 0xF];
  }
  return out;
}

std::string random_suffix() {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::array<std::uint32_t, 5> draws{};
  t_random.take(draws.data(), sizeof draws);
  std::string out;
  for (std::uint32_t draw : draws) out.push_back(kAlphabet[draw % kAlphabet.size()]);
  return out;
}

}  // namespace BACKPLANE_API
