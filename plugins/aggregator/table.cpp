#include "table.hpp"

#include <backplane/meta.hpp>

namespace backplane {
namespace {

// "ns/name", or Local for a group version that this server serves itself.
std::string service_of(const Object& object) {
  const Value* service = find_path(object, "spec.service");
  if (!service || !service->is_object()) return "Local";
  return std::string(get_string(service->get_object(), "namespace")) + "/" + std::string(get_string(service->get_object(), "name"));
}

// "True", or "False (ServiceNotFound)".
std::string availability_of(const Object& object) {
  const Value* conditions = find_path(object, "status.conditions");
  if (!conditions || !conditions->is_array()) return "Unknown";
  for (const auto& item : conditions->get_array()) {
    if (!item.is_object() || get_string(item.get_object(), "type") != "Available") continue;
    const std::string status(get_string(item.get_object(), "status"));
    return status == "True" ? status : status + " (" + std::string(get_string(item.get_object(), "reason")) + ")";
  }
  return "Unknown";
}

class ApiServiceTable final : public TableConvertor {
 public:
  ApiServiceTable() {
    columns_ = {{"Name", "string", "name", "Name of the APIService: its version, a dot, its group."},
                {"Service", "string", "", "The service that answers for the group version; Local when this server does."},
                {"Available", "string", "", "Whether the group version can be reached."},
                {"Age", "string", "", "Time since the object was created."}};
  }
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override {
    Array out(std::move(storage));
    out.emplace_back(meta_name(object));
    out.emplace_back(service_of(object));
    out.emplace_back(availability_of(object));
    out.emplace_back(human_age(meta_text(object, "creationTimestamp"), now_unix));
    return out;
  }

 private:
  std::vector<TableColumn> columns_;
};

}  // namespace

const TableConvertor& apiservice_table() {
  static const ApiServiceTable table;
  return table;
}

}  // namespace backplane
