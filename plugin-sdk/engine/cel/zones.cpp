#include "cel/zones.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cel/times.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr std::size_t kMaxZones = 512;

// One rule of the text at the end of a zone file (POSIX TZ): when clocks change in every year after the last one listed.
struct Change {
  int month = 0, week = 0, weekday = 0;  // M3.2.0
  int day = -1;                          // J60 (from 1, no leap days) or 60 (from 0)
  bool counts_leap_days = false;
  std::int64_t time = 7200;
};

struct Zone {
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> offsets;  // one more than times: [0] is before the first
  bool has_rule = false, has_summer = false;
  std::int64_t standard = 0, summer = 0;
  Change begin, end;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool fits(std::size_t bytes) const noexcept { return text_.size() >= bytes; }
  std::int64_t number(std::size_t bytes) noexcept {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < bytes; ++i) out = out << 8 | static_cast<unsigned char>(text_[i]);
    text_.remove_prefix(bytes);
    return bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(out)) : static_cast<std::int64_t>(out);
  }
  void skip(std::size_t bytes) noexcept { text_.remove_prefix(bytes); }
  std::string_view rest() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// Reads a POSIX TZ text: "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3".
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}
  bool read(Zone& zone) {
    if (!name() || !time(zone.standard)) return false;
    zone.standard = -zone.standard;
    if (rest_.empty()) return true;
    if (!name()) return false;
    zone.summer = zone.standard + 3600;
    if (!rest_.empty() && rest_.front() != ',') {
      if (!time(zone.summer)) return false;
      zone.summer = -zone.summer;
    }
    zone.has_summer = change(zone.begin) && change(zone.end) && rest_.empty();
    return zone.has_summer;
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool name() {
    if (take('<')) {
      const std::size_t end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
      return true;
    }
    std::size_t size = 0;
    while (size < rest_.size() && ((rest_[size] | 32) >= 'a' && (rest_[size] | 32) <= 'z')) ++size;
    rest_.remove_prefix(size);
    return size >= 3;
  }
  bool number(int& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc() || out < 0) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool time(std::int64_t& out) {
    const bool minus = take('-');
    if (!minus) take('+');
    std::array<int, 3> parts{};
    if (!number(parts[0])) return false;
    for (std::size_t i = 1; i < 3 && take(':'); ++i) {
      if (!number(parts[i])) return false;
    }
    out = parts[0] * 3600 + parts[1] * 60 + parts[2];
    if (minus) out = -out;
    return true;
  }
  bool change(Change& out) {
    if (!take(',')) return false;
    if (take('M')) {
      if (!number(out.month) || !take('.') || !number(out.week) || !take('.') || !number(out.weekday)) return false;
      if (out.month < 1 || out.month > 12 || out.week < 1 || out.week > 5 || out.weekday > 6) return false;
    } else {
      out.counts_leap_days = !take('J');
      if (!number(out.day)) return false;
    }
    return !take('/') || time(out.time);
  }
  std::string_view rest_;
};

std::optional<Zone> parse_zone(std::string_view file) {
  constexpr std::size_t kHeader = 44;
  Reader reader(file);
  std::size_t width = 4;
  for (int pass = 0; pass < 2; ++pass) {
    if (!reader.fits(kHeader) || reader.rest().substr(0, 4) != "TZif") return std::nullopt;
    const char version = reader.rest()[4];
    reader.skip(20);
    std::array<std::size_t, 6> counts{};  // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt of RFC 8536
    for (std::size_t& count : counts) {
      const std::int64_t number = reader.number(4);
      if (number < 0 || static_cast<std::size_t>(number) > kMaxFile) return std::nullopt;
      count = static_cast<std::size_t>(number);
    }
    const std::size_t body = counts[3] * (width + 1) + counts[4] * 6 + counts[5] + counts[2] * (width + 4) + counts[1] + counts[0];
    if (!reader.fits(body)) return std::nullopt;
    if (pass == 0 && version >= '2') {  // the second block has 64-bit times
      reader.skip(body);
      width = 8;
      continue;
    }
    Zone out;
    for (std::size_t i = 0; i < counts[3]; ++i) out.times.push_back(reader.number(width));
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < counts[3]; ++i) kinds.push_back(static_cast<std::size_t>(reader.number(1) & 0xFF));
    std::vector<std::int64_t> distances;
    std::vector<bool> summer;
    for (std::size_t i = 0; i < counts[4]; ++i) {
      distances.push_back(reader.number(4));
      summer.push_back(reader.number(1) != 0);
      reader.skip(1);
    }
    if (distances.empty()) return std::nullopt;
    const auto standard = std::find(summer.begin(), summer.end(), false);
    out.offsets.push_back(distances[standard == summer.end() ? 0 : static_cast<std::size_t>(standard - summer.begin())]);
    for (const std::size_t kind : kinds) {
      if (kind >= distances.size()) return std::nullopt;
      out.offsets.push_back(distances[kind]);
    }
    reader.skip(counts[5] + counts[2] * (width + 4) + counts[1] + counts[0]);
    std::string_view rule = reader.rest();
    if (rule.size() >= 2 && rule.front() == '\n' && rule.back() == '\n')
      out.has_rule = RuleReader(rule.substr(1, rule.size() - 2)).read(out);
    return out;
  }
  return std::nullopt;
}

bool is_leap(std::int64_t year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Seconds since the beginning of the year, in local time.
std::int64_t second_of_year(const Change& change, std::int64_t year, int first_weekday) {
  constexpr std::array<int, 13> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  if (change.month == 0) {
    const int leap = !change.counts_leap_days && is_leap(year) && change.day >= 60 ? 1 : 0;
    return (change.day - (change.counts_leap_days ? 0 : 1) + leap) * 86400LL + change.time;
  }
  const auto month = static_cast<std::size_t>(change.month);
  const int leap = is_leap(year) && change.month > 2 ? 1 : 0;
  const int begin = kBefore[month - 1] + leap;
  const int days = kBefore[month] - kBefore[month - 1] + (change.month == 2 && is_leap(year) ? 1 : 0);
  int day = (change.weekday - (first_weekday + begin) % 7 + 7) % 7 + (change.week - 1) * 7;
  while (day >= days) day -= 7;
  return (begin + day) * 86400LL + change.time;
}

std::int64_t by_rule(const Zone& zone, std::int64_t seconds) {
  if (!zone.has_summer) return zone.standard;
  const Civil civil = civil_of(seconds + zone.standard);
  const std::int64_t in_year = civil.day_of_year * 86400LL + civil.hour * 3600 + civil.minute * 60 + civil.second;
  const int first_weekday = ((civil.weekday - civil.day_of_year) % 7 + 7) % 7;
  const std::int64_t begin = second_of_year(zone.begin, civil.year, first_weekday);
  const std::int64_t end = second_of_year(zone.end, civil.year, first_weekday) - (zone.summer - zone.standard);
  const bool summer = begin < end ? in_year >= begin && in_year < end : in_year >= begin || in_year < end;
  return summer ? zone.summer : zone.standard;
}

std::int64_t offset_at(const Zone& zone, std::int64_t seconds) {
  const auto after = std::upper_bound(zone.times.begin(), zone.times.end(), seconds);
  if (after == zone.times.end() && zone.has_rule) return by_rule(zone, seconds);
  return zone.offsets[static_cast<std::size_t>(after - zone.times.begin())];
}

std::shared_ptr<const Zone> load(const std::string& name) {
  for (const char* folder : {"/usr/share/zoneinfo/", "/usr/share/lib/zoneinfo/", "/usr/lib/locale/TZ/", "/etc/zoneinfo/"}) {
    std::ifstream file(folder + name, std::ios::binary);
    if (!file) continue;
    std::string text(kMaxFile, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    if (auto zone = parse_zone(text)) return std::make_shared<const Zone>(std::move(*zone));
  }
  return nullptr;
}

// Whether the name cannot refer to a file outside the directory of zones.
bool is_name(std::string_view name) {
  return name.size() <= 64 && name.front() != '/' && name.front() != '\\' && name.find("..") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::shared_ptr<const Zone> zone_named(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Zone>, std::less<>> zones;
  const std::scoped_lock lock(mutex);
  if (const auto found = zones.find(name); found != zones.end()) return found->second;
  auto zone = load(name);
  if (zone != nullptr && zones.size() < kMaxZones) zones.emplace(name, zone);
  return zone;
}

}  // namespace

std::optional<std::int64_t> named_zone_offset(std::string_view name, std::int64_t seconds, std::string& error) {
  if (name.empty() || name == "UTC" || name == "Local") return 0;  // servers run in UTC
  const auto zone = is_name(name) ? zone_named(std::string(name)) : nullptr;
  if (zone == nullptr) {
    error = "unknown time zone " + std::string(name);
    return std::nullopt;
  }
  return offset_at(*zone, seconds);
}

}  // namespace backplane::cel_detail
