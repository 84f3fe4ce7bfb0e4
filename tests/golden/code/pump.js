'use strict';
const fs = require('fs');

/**
 * 读取水位。
 */
export async function readLevel(path) {
  const raw = await fs.readFile(path);
  return Number(raw);
}

export const toMetres = (raw) => {
  return raw / 100;
};

const double = (x) => x * 2;

class Pump extends Machine {
  // 先断电
  stop() {
    this.power = false;
  }

  onAlarm = () => {
    this.stop();
  };
}

Pump.prototype.restart = function () {
  this.power = true;
};

module.exports = {
  start: function () {
    return new Pump();
  },
};
