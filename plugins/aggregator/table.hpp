// Columns of APIService: Name, Service, Available, Age.
#pragma once

#include <backplane/table.hpp>

namespace backplane {

std::vector<TableColumn> apiservice_columns();

}  // namespace backplane
