# For people who type make: everything is in ./dev.
.PHONY: all test run check bench clean
all:
	@./dev build
test run check bench:
	@./dev $@
clean:
	rm -rf build build-asan build-fuzz build-release
