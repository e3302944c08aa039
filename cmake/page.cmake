# The files of the page (src/ui/bundle), compressed, as objects that programs with the page are linked with.
set(page_objects)
foreach(name index.html page.js shared.js later.js page.css icon.svg)
  string(REPLACE . _ symbol ${name})
  set(object ${CMAKE_BINARY_DIR}/page/${symbol}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/page
    COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/src/ui/bundle/${name} > ${CMAKE_BINARY_DIR}/page/${symbol}_gz
    COMMAND ${CMAKE_COMMAND} -E chdir ${CMAKE_BINARY_DIR}/page ld -r -z noexecstack -b binary -o ${object} ${symbol}_gz
    DEPENDS ${CMAKE_SOURCE_DIR}/src/ui/bundle/${name})
  list(APPEND page_objects ${object})
endforeach()
add_custom_target(page_files DEPENDS ${page_objects})
add_dependencies(ui page_files)
target_link_libraries(ui PUBLIC ${page_objects})
