// Ages and the table of kinds without columns of their own.
#include "backplane/table.hpp"

#include "backplane/meta.hpp"

namespace backplane BACKPLANE_API {
namespace {

class DefaultTableConvertor final : public TableConvertor {
 public:
  const std::vector<TableColumn>& columns() const override { return columns_; }

  Array cells(const Object& object, std::int64_t, json::storage_ptr storage) const override {
    Array out(std::move(storage));
    out.emplace_back(meta_name(object));
    const std::string_view created = meta_text(object, "creationTimestamp");
    out.emplace_back(created.empty() ? std::string_view("0001-01-01T00:00:00Z") : created);
    return out;
  }

 private:
  std::vector<TableColumn> columns_ = {
      {"Name", "string", "name", "Name of the object, unique among the objects of its kind in its namespace.", 0},
      {"Created At", "date", "", "When the server stored the object for the first time, in UTC.", 0},
  };
};

std::string two_units(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  std::string out = std::to_string(large) + large_unit;
  if (small != 0) out += std::to_string(small) + small_unit;
  return out;
}

}  // namespace

TableConvertor::~TableConvertor() = default;
Array TableConvertor::conditions(const Object&, json::storage_ptr storage) const { return Array(std::move(storage)); }

const TableConvertor& default_table_convertor() {
  static const DefaultTableConvertor convertor;
  return convertor;
}

std::string human_duration(std::int64_t seconds) {
  // Clocks of two machines may differ by a second.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two_units(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two_units(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (hours < 192) return two_units(days, "d", hours % 24, "h");
  if (days < 365 * 2) return std::to_string(days) + "d";
  if (days < 365 * 8) return two_units(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

std::string human_age(std::string_view rfc3339, std::int64_t now_unix) {
  const auto then = parse_rfc3339(rfc3339);
  return then ? human_duration(now_unix - *then) : "<unknown>";
}

}  // namespace BACKPLANE_API
