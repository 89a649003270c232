"""The instruction set: text of nvdisasm -> typed instructions, basic blocks and loops."""
