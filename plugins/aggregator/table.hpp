// Columns of APIService: Name, Service, Available, Age.
#pragma once

#include <backplane/table.hpp>

namespace backplane {

const TableConvertor& apiservice_table();

}  // namespace backplane
