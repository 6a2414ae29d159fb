// Columns of APIService: Name, Service, Available, Age.
#pragma once

#include <backplane/rest/table.hpp>

namespace backplane {

std::vector<TableColumn> apiservice_columns();

}  // namespace backplane
