#!/bin/sh
# 启动水泵
set -eu

# 打开阀门
open_valve() {
  echo "open $1"
}

function stop {
  echo stop
}

open_valve 进水阀
